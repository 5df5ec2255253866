#include "layers/norms.h"
#include "sdk/ops/norm.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal::test {
namespace {

struct Batch {
  std::vector<double> mean;
  std::vector<double> unbiased_variance;
};
Batch StatisticsOf(const Tensor& x) {
  const auto channels = static_cast<std::size_t>(x.shape().back());
  const auto rows = static_cast<std::size_t>(x.shape().RowCount());
  const std::vector<double> values = Values(x);
  Batch batch{std::vector<double>(channels), std::vector<double>(channels)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    batch.mean[i % channels] += values[i] / static_cast<double>(rows);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double distance = values[i] - batch.mean[i % channels];
    batch.unbiased_variance[i % channels] += distance * distance / static_cast<double>(rows - 1);
  }
  return batch;
}

TEST_CASE("running statistics move by momentum, with the unbiased variance", "[ops][norm]") {
  for (const WorldKind& kind : AllWorlds()) {
    INFO(kind);
    TestWorld world(kind);
    const auto layer =
        Ready(std::make_unique<BatchNormLayer>(3, BatchNormOptions{.momentum = 0.3}));
    const auto parameters = layer->Parameters();
    std::vector<double> mean(3, 0);
    std::vector<double> variance(3, 1);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Tensor x = RandomTensor({5, 2, 3}, step, kind.dtype, -1, 3);
      RunPass(
          world, [&](Context& context, const Var& v) { return (*layer)(context, v); }, x);
      const Batch batch = StatisticsOf(x);
      for (std::size_t c = 0; c < 3; ++c) {
        mean[c] = 0.7 * mean[c] + 0.3 * batch.mean[c];
        variance[c] = 0.7 * variance[c] + 0.3 * batch.unbiased_variance[c];
      }
      CHECK(MaxError(world.store().Value(*parameters[2]), mean) < 1e-5);
      CHECK(MaxError(world.store().Value(*parameters[3]), variance) < 1e-5);
    }
  }
}

TEST_CASE("evaluation uses the running statistics and leaves them", "[ops][norm]") {
  for (const WorldKind& kind : AllWorlds()) {
    TestWorld world(kind);
    const auto layer = Ready(std::make_unique<BatchNormLayer>(3, BatchNormOptions{}));
    world.context().set_training(false);
    const Tensor x = RandomTensor({1, 3}, 1, kind.dtype);  // one row will do
    const Var y = (*layer)(world.context(), {x});
    // Mean 0, variance 1, weight 1 and bias 0: almost the identity.
    CHECK(MaxError(y.value, x) < 1e-5);
    CHECK(Values(world.store().Value(*layer->Parameters()[2])) == std::vector<double>(3, 0.0));
  }
}

TEST_CASE("frozen statistics are used in training too, and stay", "[ops][norm]") {
  for (const WorldKind& kind : AllWorlds()) {
    INFO(kind);
    for (const std::size_t frozen : {2, 3}) {
      TestWorld world(kind);
      const auto layer = Ready(std::make_unique<BatchNormLayer>(3, BatchNormOptions{}));
      layer->Parameters()[frozen]->frozen = true;
      const Tensor x = RandomTensor({1, 3}, 1, kind.dtype, 4, 5);  // one row will do
      RunPass(
          world, [&](Context& context, const Var& v) { return (*layer)(context, v); }, x);
      const Var trained = (*layer)(world.context(), {x});
      CHECK(world.context().training());
      world.context().set_training(false);
      CHECK(Values(trained.value) == Values((*layer)(world.context(), {x}).value));
      CHECK(Values(world.store().Value(*layer->Parameters()[2])) == std::vector<double>(3, 0.0));
      CHECK(Values(world.store().Value(*layer->Parameters()[3])) == std::vector<double>(3, 1.0));
    }
  }
}

TEST_CASE("evaluation keeps the input only where the weight is trained", "[ops][norm]") {
  for (WorldKind kind : AllWorlds()) {
    for (const bool dry : {false, true}) {
      kind.dry = dry;
      INFO(kind);
      for (const bool trained : {true, false}) {
        TestWorld world(kind);
        const auto layer = Ready(std::make_unique<BatchNormLayer>(64, BatchNormOptions{}));
        layer->Parameters()[0]->trainable = trained;
        Context& context = world.context();
        context.set_training(false);
        Tape tape;
        const TapeScope scope(context, &tape);
        Var output;
        {
          const Var hidden = {context.Allocate({100, 64}, DType::kF32), tape.NewSlot()};
          context.Launch({OperationKind::kElementwise, BytesOf(hidden.value)},
                         [&](Backend& b, void*) { b.elementwise().Fill(hidden.value, 1); });
          output = (*layer)(context, hidden);
        }
        const std::int64_t one = output.value.bytes();
        CHECK(world.ledger().live()[MemoryTag::kActivation] == (trained ? 2 : 1) * one);
        tape.Backward(context, output.slot, context.Allocate(output.shape(), output.dtype()));
        CHECK(tape.TakeGradient(0).shape() == Shape({100, 64}));
      }
    }
  }
}

}  // namespace
}  // namespace frugal::test
