#include "sdk/data/shuffle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

using Order = std::vector<std::int64_t>;

// The expected orders come from a second implementation, in Python, of Philox and the shuffle.
TEST_CASE("the order of an epoch is the same everywhere", "[data]") {
  CHECK(EpochOrder(10, 42, 0, true) == Order{3, 1, 5, 2, 7, 9, 4, 6, 8, 0});
  CHECK(EpochOrder(10, 42, 1, true) == Order{3, 2, 6, 7, 0, 5, 1, 8, 9, 4});
  CHECK(EpochOrder(10, 43, 0, true) == Order{5, 2, 4, 9, 7, 0, 8, 3, 6, 1});
  const Order large = EpochOrder(60000, 7, 3, true);
  CHECK(Order(large.begin(), large.begin() + 5) == Order{26820, 36233, 11494, 45759, 4608});
  CHECK(Order(large.end() - 3, large.end()) == Order{21319, 52029, 46140});
}

TEST_CASE("an epoch visits every sample once", "[data]") {
  Order order = EpochOrder(1001, 5, 9, true);
  std::ranges::sort(order);
  CHECK(order == EpochOrder(1001, 5, 9, false));
}

TEST_CASE("orders of no, one and two samples", "[data]") {
  CHECK(EpochOrder(0, 1, 0, true).empty());
  CHECK(EpochOrder(1, 1, 0, true) == Order{0});
  int swapped = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    swapped += EpochOrder(2, seed, 0, true) == Order{1, 0} ? 1 : 0;
  }
  CHECK(std::abs(swapped - 500) < 80);  // five standard deviations
}

TEST_CASE("without shuffling the order is that of the file", "[data]") {
  CHECK(EpochOrder(4, 42, 7, false) == Order{0, 1, 2, 3});
  Order order(4, -1);
  FillEpochOrder(order, 42, 7, false);
  CHECK(order == Order{0, 1, 2, 3});
  FillEpochOrder(order, 42, 7, true);
  CHECK(order == EpochOrder(4, 42, 7, true));
}

TEST_CASE("every permutation is equally likely", "[data]") {
  std::array<int, 24> seen{};
  constexpr int kRounds = 24000;
  for (int epoch = 0; epoch < kRounds; ++epoch) {
    const Order order = EpochOrder(4, 3, epoch, true);
    Order rank = {0, 1, 2, 3};
    std::size_t number = 0;
    while (rank != order) std::ranges::next_permutation(rank), ++number;
    ++seen[number];
  }
  double chi_square = 0;
  for (const int count : seen) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  CHECK(chi_square < 60);  // 23 degrees of freedom: exceeded once in 30,000
}

TEST_CASE("negative counts and epochs are refused", "[data]") {
  CHECK_THROWS_AS(EpochOrder(-1, 0, 0, true), UsageError);
  CHECK_THROWS_AS(EpochOrder(4, 0, -1, true), UsageError);
}

}  // namespace
}  // namespace frugal::testing
