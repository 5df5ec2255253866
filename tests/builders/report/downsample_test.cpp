#include "builders/report/html/downsample.h"

#include <algorithm>
#include <limits>

#include "builders/report/rows/smoothing.h"
#include "tests/catch.h"

namespace frugal {
namespace {

bool Has(const std::vector<std::size_t>& indices, std::size_t index) {
  return std::ranges::binary_search(indices, index);
}

}  // namespace

TEST_CASE("Few values are all drawn") {
  CHECK(IndicesToDraw({}, 800).empty());
  CHECK(IndicesToDraw({1.0}, 800) == std::vector<std::size_t>{0});
  CHECK(IndicesToDraw(std::vector<double>(800), 800).size() == 800);
}

TEST_CASE("Of many values the extremes and the ends stay") {
  std::vector<double> values(100000, 1.0);
  values[50001] = 7;
  values[50002] = -7;
  values[70000] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::size_t> drawn = IndicesToDraw(values, 800);
  CHECK(drawn.size() <= 803);
  CHECK(std::ranges::is_sorted(drawn));
  CHECK(std::ranges::adjacent_find(drawn) == drawn.end());
  for (const std::size_t kept : {0U, 50001U, 50002U, 70000U, 99999U}) CHECK(Has(drawn, kept));
}

TEST_CASE("Values that are all not finite keep one for each run") {
  const std::vector<double> values(1000, std::numeric_limits<double>::infinity());
  CHECK(IndicesToDraw(values, 10).size() == 6);
  CHECK(IndicesToDraw(values, 0).size() == 2);
}

TEST_CASE("A smoothed value starts at the first and leaves out what is not finite") {
  SmoothedValue mean(9);
  CHECK(std::isnan(mean.value()));
  mean.Add(4);
  CHECK(mean.value() == Approx(4));
  mean.Add(std::numeric_limits<double>::quiet_NaN());
  CHECK(mean.value() == Approx(4));
  for (int i = 0; i < 200; ++i) mean.Add(1);
  CHECK(mean.value() == Approx(1));
}

}  // namespace frugal
