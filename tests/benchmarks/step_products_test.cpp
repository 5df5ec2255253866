#include "tests/benchmarks/step_products.h"

#include "tests/catch.h"

namespace frugal {
namespace {

Workload SmallGpt() {
  const Gpt2Config gpt{
      .vocab_size = 64, .n_positions = 32, .n_embd = 48, .n_layer = 2, .n_head = 3};
  return {"small", gpt, {}, TextOf(64, 32), 4};
}

TEST_CASE("the products of a step are all that the plan counts") {
  const StepProducts products = ProductsOf(SmallGpt());
  CHECK(products.other_flops == 0);
  const AiModelBuilder builder =
      BuilderFor(SmallGpt(), PresetByName("SpeedOptimized"), Precision::kF32);
  CHECK(products.Flops() == Approx(builder.Plan().plan.steps.front().flops));
}

TEST_CASE("a layer's products are taken down as its weight and rows lie") {
  const auto layers = [](LayerList& list) {
    list.Flatten().Dense({.units = 20, .activation = Activation::kRelu}).Dense({.units = 10});
  };
  const StepProducts products = ProductsOf({"small", std::nullopt, layers, ImagesOf(4, 1, 10), 8});
  const auto times = [&](const StepProduct& wanted) {
    return std::ranges::count_if(products.all(), [&](const StepProduct& product) {
      return product.HasShapeOf(wanted) && product.flops == product.FlopsOfOne();
    });
  };
  CHECK(times({1, 'N', 'T', 8, 20, 16}) == 1);
  CHECK(times({1, 'T', 'N', 20, 16, 8}) == 1);
  CHECK(times({1, 'N', 'T', 8, 10, 20}) == 1);
  CHECK(times({1, 'N', 'N', 8, 20, 10}) == 1);
  CHECK(times({1, 'T', 'N', 10, 20, 8}) == 1);
  CHECK(products.count == 5);  // an image gets no gradient
}

TEST_CASE("a causal head's products count half, as its scores do") {
  const StepProducts products = ProductsOf(SmallGpt());
  int batches = 0;
  for (const StepProduct& product : products.all()) {
    if (product.batch == 1) continue;
    ++batches;
    CHECK(product.batch == std::int64_t{4} * 3);
    const double layers = product.transpose_b == 'T' ? 3 : 2;  // scores twice, and their slopes
    CHECK(product.flops == Approx(2 * layers * product.FlopsOfOne() / 2));
  }
  CHECK(batches == 3);
}

TEST_CASE("convolutions are told apart from products") {
  const StepProducts products = ProductsOf(
      {"small", ResNetConfig{.num_classes = 10, .small_stem = true}, {}, ImagesOf(8, 3, 10), 2});
  CHECK(products.other_flops > 0);
  CHECK(products.count == 3);  // of the classifier alone
}

}  // namespace
}  // namespace frugal
