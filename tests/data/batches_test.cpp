#include "sdk/data/batches.h"

#include <limits>

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

TEST_CASE("batches cover the samples, or all but the rest", "[data]") {
  CHECK(BatchCount(10, 4, LastBatch::kKeepSmaller) == 3);
  CHECK(BatchCount(10, 4, LastBatch::kDrop) == 2);
  CHECK(BatchAt(10, 4, LastBatch::kKeepSmaller, 0) == BatchRange{0, 4});
  CHECK(BatchAt(10, 4, LastBatch::kKeepSmaller, 2) == BatchRange{8, 2});
  CHECK(BatchAt(10, 4, LastBatch::kDrop, 1) == BatchRange{4, 4});
  CHECK_THROWS_AS(BatchAt(10, 4, LastBatch::kDrop, 2), UsageError);
}

TEST_CASE("batches that divide the samples, exceed them, or hold none", "[data]") {
  for (const LastBatch last : {LastBatch::kKeepSmaller, LastBatch::kDrop}) {
    CHECK(BatchCount(8, 4, last) == 2);
    CHECK(BatchAt(8, 4, last, 1) == BatchRange{4, 4});
    CHECK(BatchCount(0, 4, last) == 0);
    CHECK(BatchCount(5, 1, last) == 5);
    CHECK_THROWS_AS(BatchAt(0, 4, last, 0), UsageError);
  }
  CHECK(BatchAt(3, 4, LastBatch::kKeepSmaller, 0) == BatchRange{0, 3});
  CHECK(BatchCount(3, 4, LastBatch::kDrop) == 0);
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  CHECK(BatchCount(kLargest, kLargest - 1, LastBatch::kKeepSmaller) == 2);
  CHECK(BatchAt(kLargest, kLargest - 1, LastBatch::kKeepSmaller, 1) == BatchRange{kLargest - 1, 1});
}

TEST_CASE("batches of no size and batches that are not there are refused", "[data]") {
  CHECK_THROWS_WITH(BatchCount(10, 0, LastBatch::kDrop),
                    "[batches] a batch has at least one sample; 0 was given");
  CHECK_THROWS_WITH(BatchCount(-1, 4, LastBatch::kDrop),
                    "[batches] the number of samples is not negative; -1 was given");
  CHECK_THROWS_WITH(BatchAt(10, 4, LastBatch::kDrop, -1),
                    "[batches] a batch has a number from 0 to 1; -1 was given");
}

}  // namespace
}  // namespace frugal::testing
