#include "builders/report/html/axis.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

namespace frugal {
namespace {

std::vector<std::string> TextsOf(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("Ticks stand at round numbers") {
  CHECK(TextsOf(ValueAxis(0, 2.3, "")) == Texts{"0.0", "0.5", "1.0", "1.5", "2.0", "2.5"});
  CHECK(TextsOf(ValueAxis(-0.02, 0.03, "")) ==
        Texts{"-0.02", "-0.01", "0.00", "0.01", "0.02", "0.03"});
  CHECK(TextsOf(CountAxis(1, 2808, "")) == Texts{"500", "1,000", "1,500", "2,000", "2,500"});
  CHECK(TextsOf(CountAxis(1, 3, "")) == Texts{"1", "2", "3"});
  CHECK(TextsOf(PercentAxis(0.889, 0.9189, "")) == Texts{"88%", "89%", "90%", "91%", "92%"});
  CHECK(TextsOf(BytesAxis(87 << 20, "")) == Texts{"0 MB", "20 MB", "40 MB", "60 MB", "80 MB"});
  CHECK(TextsOf(BytesAxis(2100, "")) == Texts{"0.0 KB", "0.5 KB", "1.0 KB", "1.5 KB", "2.0 KB"});
}

TEST_CASE("Empty ranges get an extent") {
  for (const double value : {0.0, 0.5, -3.0, 1e-300, 1e300, 1e15}) {
    const Axis axis = ValueAxis(value, value, "");
    CAPTURE(value);
    CHECK(axis.high > axis.low);
    CHECK(axis.ticks.size() >= 2);
    CHECK(axis.ticks.size() <= 13);
    CHECK(std::isfinite(axis.ShareOf(value)));
  }
  CHECK(TextsOf(CountAxis(1, 1, "")) == Texts{"1"});
  CHECK(BytesAxis(0, "").high > 0);
  CHECK(PercentAxis(1, 1, "").high == 1);
  CHECK(PercentAxis(0, 0, "").low == 0);
}

TEST_CASE("The widest and the narrowest ranges have ticks") {
  const double most = std::numeric_limits<double>::max();
  for (const auto& [low, high] : {std::pair{-most, most}, {1.0, 1.0 + 1e-15}, {0.0, 5e-324}}) {
    const Axis axis = ValueAxis(low, high, "");
    CAPTURE(low, high);
    CHECK(std::isfinite(axis.high - axis.low));
    CHECK(axis.high > axis.low);
    CHECK(axis.ticks.size() >= 2);
  }
}

}  // namespace frugal
