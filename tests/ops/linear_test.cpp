#include "sdk/ops/linear.h"

#include "sdk/core/error.h"
#include "sdk/module/module.h"
#include "sdk/ops/elementwise.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

class Weights : public Module {
 public:
  explicit Weights(const Shape& shape)
      : weight(AddParameter("weight", shape, Initializer::Uniform(-1, 1))),
        bias(AddParameter("bias", {5}, Initializer::Uniform(-1, 1))) {
    AssignPaths("linear");
    NumberParameters(*this);
  }
  const Parameter& weight;
  const Parameter& bias;
};

TEST_CASE("linear with a residual is linear and a sum", "[ops][linear]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
      TestEnvironment environment(kind);
      Context& context = environment.context();
      const bool out_in = layout == WeightLayout::kOutIn;
      Weights weights(out_in ? Shape{5, 3} : Shape{3, 5});
      const LinearOptions options{.layout = layout};
      const Var x = {RandomTensor({2, 4, 3}, 1, kind.dtype)};
      const Var residual = {RandomTensor({2, 4, 5}, 2, kind.dtype)};
      const Var fused = Linear(context, x, weights.weight, &weights.bias, options, residual);
      const Var sum =
          Add(context, Linear(context, x, weights.weight, &weights.bias, options), residual);
      CHECK(fused.shape() == Shape({2, 4, 5}));
      CHECK(RelativeError(fused.value, sum.value) < 1e-6);
    }
  }
}

TEST_CASE("linear of either layout takes the same memory dry", "[ops][linear][dry]") {
  for (EnvironmentKind kind : AllEnvironments()) {
    INFO(kind);
    const Tensor x = RandomTensor({1100, 5}, 1, kind.dtype);  // rows enough to pack the weight
    for (const WeightLayout layout : {WeightLayout::kOutIn, WeightLayout::kInOut}) {
      std::vector<BytesByTag> peaks;
      for (const bool dry : {false, true}) {
        kind.dry = dry;
        TestEnvironment environment(kind);
        Weights weights({5, 5});
        const auto function = [&](Context& context, const Var& v) {
          return Linear(context, v, weights.weight, &weights.bias, {.layout = layout}, v);
        };
        RunPass(environment, function, x);
        peaks.push_back(environment.ledger().peak());
      }
      CHECK(peaks[0] == peaks[1]);
    }
  }
}

TEST_CASE("linear refuses what does not fit", "[ops][linear][errors]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    Context& context = environment.context();
    const LabelScope label(context, "fc");
    Weights weights({5, 3});
    const auto linear = [&](const Shape& x, const LinearOptions& options, const Shape& residual) {
      const Var added = residual.rank() > 0 ? Var{Full(residual, 1, kind.dtype)} : Var();
      return Linear(context, {Full(x, 1, kind.dtype)}, weights.weight, nullptr, options, added);
    };
    CHECK_THROWS_WITH(linear({2, 5}, {}, {}),
                      "[fc] linear takes 3 features; the input is [2, 5]; change the layer's input "
                      "size or flatten the input first");
    CHECK_THROWS_WITH(linear({2, 3}, {.layout = WeightLayout::kInOut}, {}),
                      "[fc] linear takes 5 features; the input is [2, 3]; change the layer's input "
                      "size or flatten the input first");
    CHECK_THROWS_WITH(
        linear({2, 3}, {}, {2, 3}),
        "[fc] a sum takes two tensors of one shape, here [2, 5]; the input is [2, 3]; make both "
        "branches end in the same shape, e.g. with a shortcut");
    CHECK_THROWS_AS(linear({2, 3}, {}, {1, 5}), ShapeError);
    CHECK_THROWS_AS(linear({2, 3}, {.activation = Activation::kRelu}, {2, 5}), UsageError);
    CHECK_THROWS_AS(linear({2, 3}, {.activation = Activation::kGelu}, {2, 5}), UsageError);
  }
}

// Holds by how many bytes forward of f(x) weight^T changes what is live, and the weight's gradient.
struct Behind {
  std::int64_t kept = 0;
  Tensor gradient;
};

std::int64_t ActivationBytes(TestEnvironment& environment) {
  return environment.ledger().live()[MemoryTag::kActivation];
}

Behind RunBehind(const EnvironmentKind& kind, Activation activation, bool can_be_made_again,
                 bool trained) {
  TestEnvironment environment(kind);
  Context& context = environment.context();
  Weights weights({5, 6});
  Parameter frozen = weights.weight;
  frozen.trainable = trained;
  Tape tape;
  Behind behind;
  const TapeScope scope(context, &tape);
  Var x = {RandomTensor({50, 6}, 1, kind.dtype), tape.NewSlot()};
  const std::int64_t before = ActivationBytes(environment);
  Var y = Activate(context, std::exchange(x, Var()), activation);
  if (!can_be_made_again) y.remat = nullptr;
  Var z = Linear(context, y, frozen, nullptr);
  y = Var();
  const int slot = std::exchange(z, Var()).slot;
  behind.kept = ActivationBytes(environment) - before;
  tape.Backward(context, slot, RandomTensor({50, 5}, 2, kind.dtype));
  if (trained) behind.gradient = CopyOf(environment.store().Gradient(frozen));
  return behind;
}

TEST_CASE("linear keeps no input that its activation can make again, for the same bits",
          "[ops][linear]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    for (const Activation activation : {Activation::kGelu, Activation::kSilu}) {
      const Behind again = RunBehind(kind, activation, true, true);
      const Behind plain = RunBehind(kind, activation, false, true);
      const std::int64_t values = 50 * 6 * SizeOf(kind.dtype);
      CHECK(plain.kept - again.kept >= values);
      CHECK(SameBits(again.gradient, plain.gradient));
    }
  }
}

TEST_CASE("a frozen linear keeps no input", "[ops][linear]") {
  const Behind frozen = RunBehind(kReferenceF64, Activation::kGelu, false, false);
  const Behind trained = RunBehind(kReferenceF64, Activation::kGelu, false, true);
  CHECK(trained.kept - frozen.kept >= 50 * 6 * 8);
}

}  // namespace
}  // namespace frugal::testing
