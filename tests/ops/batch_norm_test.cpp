#include "layers/norms.h"
#include "sdk/ops/norm/norm.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal::testing {
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
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    TestEnvironment environment(kind);
    const auto layer =
        Ready(std::make_unique<BatchNormLayer>(3, BatchNormOptions{.momentum = 0.3}));
    const auto parameters = layer->Parameters();
    std::vector<double> mean(3, 0);
    std::vector<double> variance(3, 1);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const Tensor x = RandomTensor({5, 2, 3}, step, kind.dtype, -1, 3);
      RunPass(
          environment, [&](Context& context, const Var& v) { return (*layer)(context, v); }, x);
      const Batch batch = StatisticsOf(x);
      for (std::size_t c = 0; c < 3; ++c) {
        mean[c] = 0.7 * mean[c] + 0.3 * batch.mean[c];
        variance[c] = 0.7 * variance[c] + 0.3 * batch.unbiased_variance[c];
      }
      CHECK(MaxError(environment.store().Value(*parameters[2]), mean) < 1e-5);
      CHECK(MaxError(environment.store().Value(*parameters[3]), variance) < 1e-5);
    }
  }
}

TEST_CASE("evaluation uses the running statistics and leaves them", "[ops][norm]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    const auto layer = Ready(std::make_unique<BatchNormLayer>(3, BatchNormOptions{}));
    environment.context().set_training(false);
    const Tensor x = RandomTensor({1, 3}, 1, kind.dtype);  // one row will do
    const Var y = (*layer)(environment.context(), {x});
    // Mean 0, variance 1, weight 1 and bias 0: almost the identity.
    CHECK(MaxError(y.value, x) < 1e-5);
    CHECK(Values(environment.store().Value(*layer->Parameters()[2])) ==
          std::vector<double>(3, 0.0));
  }
}

TEST_CASE("frozen statistics are used in training too, and stay", "[ops][norm]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    for (const std::size_t frozen : {2u, 3u}) {
      TestEnvironment environment(kind);
      const auto layer = Ready(std::make_unique<BatchNormLayer>(3, BatchNormOptions{}));
      layer->Parameters()[frozen]->frozen = true;
      const Tensor x = RandomTensor({1, 3}, 1, kind.dtype, 4, 5);  // one row will do
      RunPass(
          environment, [&](Context& context, const Var& v) { return (*layer)(context, v); }, x);
      const Var trained = (*layer)(environment.context(), {x});
      CHECK(environment.context().training());
      environment.context().set_training(false);
      CHECK(Values(trained.value) == Values((*layer)(environment.context(), {x}).value));
      CHECK(Values(environment.store().Value(*layer->Parameters()[2])) ==
            std::vector<double>(3, 0.0));
      CHECK(Values(environment.store().Value(*layer->Parameters()[3])) ==
            std::vector<double>(3, 1.0));
    }
  }
}

// A layer of 64 channels on an input [100, 64] that nobody else holds.
struct LonelyNorm {
  TestEnvironment environment;
  std::unique_ptr<Layer> layer;
  Tape tape;
  int slot = 0;
  std::int64_t one = 0;  // bytes of the input

  LonelyNorm(const EnvironmentKind& kind, bool relu, bool trains_weight)
      : environment(kind),
        layer(Ready(std::make_unique<BatchNormLayer>(64, BatchNormOptions{.relu = relu}))) {
    layer->Parameters()[0]->trainable = trains_weight;
  }
  Tensor Filled(const Shape& shape) {
    const Tensor x = environment.context().Allocate(shape, environment.context().dtype());
    environment.context().Launch({OperationKind::kElementwise, BytesOf(x)},
                                 [&](Backend& b, void*) { b.elementwise().Fill(x, 1); });
    return x;
  }
  void Forward() {
    const TapeScope scope(environment.context(), &tape);
    const Var x = {Filled({100, 64}), tape.NewSlot()};
    slot = (*layer)(environment.context(), x).slot;
    one = x.value.bytes();
  }
  void Backward() {
    tape.Backward(environment.context(), slot, Filled({100, 64}));
    CHECK(tape.TakeGradient(0).shape() == Shape({100, 64}));
  }
};

TEST_CASE("evaluation keeps x where the weight is trained, else y for a relu", "[ops][norm]") {
  for (EnvironmentKind kind : AllEnvironments()) {
    for (const int flags : {0, 1, 2, 3, 4, 5, 6, 7}) {
      kind.dry = (flags & 1) != 0;
      const bool relu = (flags & 2) != 0, trains_weight = (flags & 4) != 0;
      INFO(kind);
      CAPTURE(relu, trains_weight);
      LonelyNorm norm(kind, relu, trains_weight);
      norm.environment.context().set_training(false);
      norm.Forward();
      const std::int64_t kept = relu || trains_weight ? norm.one : 0;
      CHECK(norm.environment.ledger().live()[MemoryTag::kActivation] == kept);
      norm.Backward();
    }
  }
}

TEST_CASE("backward of a batch norm with a relu does not make its output again", "[ops][norm]") {
  for (EnvironmentKind kind : AllEnvironments()) {
    for (const bool dry : {false, true}) {
      kind.dry = dry;
      INFO(kind);
      LonelyNorm norm(kind, true, true);
      norm.Forward();
      norm.Backward();
      // x, the output's gradient and the input's, and less than half of one for channels and sums.
      CHECK(2 * norm.environment.ledger().peak_total() < 7 * norm.one);
    }
  }
}

}  // namespace
}  // namespace frugal::testing
