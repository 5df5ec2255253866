#include "sdk/module/key_value_cache.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

// Rows [first, first + count) of a sequence of rows of 5 numbers.
Tensor Rows(std::int64_t first, std::int64_t count, DType dtype) {
  std::vector<double> values;
  for (std::int64_t i = first * 5; i < (first + count) * 5; ++i) {
    values.push_back(static_cast<double>(i));
  }
  return MakeTensor({1, count, 5}, values, dtype);
}

// Columns 1 and 2 of rows [0, count).
std::vector<double> Middle(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < count; ++row) {
    values.push_back(static_cast<double>(5 * row + 1));
    values.push_back(static_cast<double>(5 * row + 2));
  }
  return values;
}

TEST_CASE("a cache gives back all rows so far, layer by layer", "[module][cache]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    KeyValueCache cache(6);
    std::int64_t length = 0;
    for (const std::int64_t count : {3, 1, 2}) {
      for (const std::string name : {"0.keys", "0.values", "1.keys"}) {
        const Tensor all =
            cache.Append(environment.context(), name, Rows(length, count, kind.dtype), 1, 2);
        CHECK(all.shape() == Shape({1, length + count, 2}));
        CHECK(Values(all) == Middle(length + count));
      }
      CHECK(cache.length() == length);  // until the pass is over
      cache.Advance(count);
      length += count;
      CHECK(cache.length() == length);
    }
    CHECK(cache.capacity() == 6);
  }
}

TEST_CASE("a cache takes its rows once and gives them back", "[module][cache]") {
  TestEnvironment environment(kReferenceF64);
  {
    KeyValueCache cache(100);
    for (std::int64_t i = 0; i < 100; ++i) {
      cache.Append(environment.context(), "keys", Rows(i, 1, DType::kF64), 0, 5);
      cache.Advance(1);
      CHECK(environment.ledger().live_total() == 4032);  // 100 rows of 5, in units of 64 bytes
    }
  }
  CHECK(environment.ledger().live_total() == 0);
}

TEST_CASE("a cache refuses more rows than it has room for, and batches", "[module][cache]") {
  TestEnvironment environment(kReferenceF64);
  KeyValueCache cache(2);
  cache.Append(environment.context(), "0.keys", Rows(0, 1, DType::kF64), 0, 5);
  cache.Advance(1);
  CHECK_THROWS_WITH(cache.Append(environment.context(), "0.keys", Rows(1, 2, DType::kF64), 0, 5),
                    "[0.keys] one sequence of at most 2 positions, as the cache was made for; "
                    "[1, 2, 5] behind 1 positions; make a larger cache, or generate less");
  CHECK_THROWS_AS(cache.Append(environment.context(), "0.keys", RandomTensor({2, 1, 5}, 1), 0, 5),
                  UsageError);
  const Tensor all = cache.Append(environment.context(), "0.keys", Rows(1, 1, DType::kF64), 0, 5);
  CHECK(Value(all, 9) == 9);  // nothing of what was there is lost
}

}  // namespace
}  // namespace frugal::testing
