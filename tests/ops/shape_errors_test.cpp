#include "sdk/core/error.h"
#include "sdk/ops/attention.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/spatial/pool.h"
#include "tests/ops/operation_run.h"

namespace frugal::testing {
namespace {

VarHeads Heads(const Shape& shape, DType dtype = DType::kF32) {
  return {{RandomTensor(shape, 1, dtype)}};
}

TEST_CASE("attention refuses rows that do not hold their heads", "[ops][attention][errors]") {
  TestEnvironment environment(kOneDnnF32);
  Context& context = environment.context();
  const AttentionOptions options = {.heads = 3, .key_heads = 3, .head_size = 8};
  const VarHeads right = Heads({2, 5, 24});
  CHECK_NOTHROW(Attention(context, right, right, right, options));
  CHECK_THROWS_WITH(Attention(context, right, right, Heads({2, 5, 12}), options),
                    Catch::Contains("values have 24 features") && Catch::Contains("[2, 5, 12]"));
  CHECK_THROWS_WITH(Attention(context, right, Heads({2, 5, 16}), right, options),
                    Catch::Contains("keys have 24 features"));
  CHECK_THROWS_WITH(Attention(context, Heads({2, 5, 20}), right, right, options),
                    Catch::Contains("queries have 24 features"));
  CHECK_THROWS_AS(Attention(context, right, right, Heads({2, 4, 24}), options), ShapeError);
  CHECK_THROWS_AS(Attention(context, right, right, Heads({1, 5, 24}), options), ShapeError);
  VarHeads behind = Heads({2, 5, 24});
  behind.offset = 1;
  CHECK_THROWS_AS(Attention(context, right, right, behind, options), ShapeError);
}

TEST_CASE("permute refuses what is no order of the axes", "[ops][errors]") {
  TestEnvironment environment(kOneDnnF32);
  const Var x = {RandomTensor({2, 3, 4}, 1, DType::kF32)};
  CHECK_NOTHROW(Permute(environment.context(), x, {2, 0, 1}));
  for (const Shape& axes :
       {Shape{0, 2}, Shape{0, 0, 1}, Shape{0, 1, 3}, Shape{-1, 0, 1}, Shape{0, 1, 2, 3}}) {
    CHECK_THROWS_WITH(Permute(environment.context(), x, axes),
                      Catch::Contains("each once") && Catch::Contains(ToString(axes)));
  }
}

TEST_CASE("a pool's last window begins inside the image", "[ops][errors]") {
  TestEnvironment environment(kOneDnnF32);
  const Var x = {RandomTensor({1, 10, 10, 2}, 1, DType::kF32)};
  const auto padded = [](std::int64_t end) {
    return WindowOptions{.kernel = {1, 2, 2}, .stride = {1, 3, 3}, .padding_end = {0, end, end}};
  };
  CHECK(MaxPool(environment.context(), x, padded(1)).shape() == Shape({1, 4, 4, 2}));
  CHECK_THROWS_AS(MaxPool(environment.context(), x, padded(4)), ShapeError);
  CHECK_THROWS_AS(AveragePool(environment.context(), x, padded(4), false), ShapeError);
}

}  // namespace
}  // namespace frugal::testing
