#include <functional>
#include <string>
#include <vector>

#include "sdk/autograd/checkpoint.h"
#include "sdk/autograd/saved_tensor.h"
#include "sdk/module/module.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/gated.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/norm/norm.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/spatial/upsample.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kSamples = 4, kLength = 10, kFeatures = 16;

class Weights : public Module {
 public:
  Weights()
      : first(AddParameter("first", {5, kFeatures}, Initializer::Uniform(-1, 1))),
        second(AddParameter("second", {5, kFeatures}, Initializer::Uniform(-1, 1))),
        scale(AddParameter("scale", {kFeatures}, Initializer::Uniform(-1, 1))),
        shift(AddParameter("shift", {kFeatures}, Initializer::Uniform(-1, 1))),
        mean(AddBuffer("mean", {kFeatures}, Initializer::Zero())),
        variance(AddBuffer("variance", {kFeatures}, Initializer::Constant(1))) {
    AssignPaths("behind");
    NumberParameters(*this);
  }
  const Parameter& first;
  const Parameter& second;
  const Parameter& scale;
  const Parameter& shift;
  const Parameter& mean;
  const Parameter& variance;
};

struct Operation {
  std::string name;
  std::int64_t features;  // of x
  std::function<Var(Context&, const Weights&, const Var& x)> run;
};

Var Part(DType dtype, std::uint64_t seed) {
  return {RandomTensor({kSamples, kFeatures}, seed, dtype)};
}

Var InGroups(Context& context, const Weights& w, const Var& x) {
  return GroupNorm(context, x, {&w.scale, &w.shift}, 4, 1e-5);
}
Var OverBatch(Context& context, const Weights& w, const Var& x) {
  return BatchNorm(context, x,
                   {.parameters = {&w.scale, &w.shift},
                    .running_mean = &w.mean,
                    .running_variance = &w.variance});
}

// Returns the operations whose results can be made again from what their own backward keeps.
std::vector<Operation> Operations() {
  return {
      {"layer norm", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         return LayerNorm(context, x, {&w.scale, &w.shift}, 1e-5);
       }},
      {"rms norm", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         return RmsNorm(context, x, &w.scale, 1e-5);
       }},
      {"modulated layer norm", kFeatures,
       [](Context& context, const Weights&, const Var& x) {
         return ModulatedLayerNorm(context, x, {}, 1e-5, Part(x.dtype(), 3), Part(x.dtype(), 4));
       }},
      {"gated unit", 2 * kFeatures,
       [](Context& context, const Weights&, const Var& x) {
         return Gated(context, x, Activation::kSilu);
       }},
      {"group norm", kFeatures, InGroups},
      {"batch norm", kFeatures, OverBatch},
      // Here the tensor that is kept is itself made again.
      {"activation of a group norm", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         return Activate(context, InGroups(context, w, x), Activation::kSilu);
       }},
      {"relu of a batch norm", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         return Activate(context, OverBatch(context, w, x), Activation::kRelu);
       }},
      {"relu of a residual sum", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         return Activate(context, Add(context, OverBatch(context, w, x), x), Activation::kRelu);
       }},
      {"modulated group norm", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         const DType dtype = x.dtype();
         return Modulate(context, InGroups(context, w, x), Part(dtype, 3), Part(dtype, 4));
       }},
      {"gated unit of a norm", 2 * kFeatures,
       [](Context& context, const Weights&, const Var& x) {
         const Var normed = LayerNorm(context, x, {}, 1e-5);
         return Gated(context, normed, Activation::kGelu);
       }},
      {"parts side by side", kFeatures,
       [](Context& context, const Weights& w, const Var& x) {
         return ConcatOfSaved(context, std::vector{x, InGroups(context, w, x)}, 1);
       }},
      {"norm of a gated sum", kFeatures,
       [](Context& context, const Weights&, const Var& x) {
         const Var sum = GatedAdd(context, x, Part(x.dtype(), 3), x);
         return ModulatedLayerNorm(context, sum, {}, 1e-5, Part(x.dtype(), 4), Part(x.dtype(), 5));
       }},
      {"upsampling", kFeatures,
       [](Context& context, const Weights&, const Var& x) {
         const Var images = Reshape(context, x, {kSamples, kLength / 2, 2, kFeatures});
         return Upsample(context, images, 2, Upsampling::kNearest);
       }},
  };
}

// Two products behind an operation, in a checkpointed segment or not.
struct RematBehind {
  std::int64_t kept = 0;  // live when forward is through
  std::vector<Tensor> gradients;
};

RematBehind RunBehind(const EnvironmentKind& kind, const Operation& operation,
                      bool can_be_made_again, bool in_segment) {
  TestEnvironment environment(kind);
  Context& context = environment.context();
  Weights weights;
  Tape tape;
  RematBehind behind;
  const TapeScope scope(context, &tape);
  const auto live = [&] { return environment.ledger().live()[MemoryTag::kActivation]; };
  Var x = {RandomTensor({kSamples, kLength, operation.features}, 1, kind.dtype), tape.NewSlot()};
  Var y = operation.run(context, weights, std::exchange(x, Var()));
  if (!can_be_made_again) y.remat = nullptr;
  const auto products = [&weights](Context& ctx, Var input) {
    const Var sum = Linear(ctx, input, weights.first, nullptr);
    return Linear(ctx, std::exchange(input, Var()), weights.second, nullptr, {}, sum);
  };
  Var z = in_segment ? Checkpoint(context, std::exchange(y, Var()), products)
                     : products(context, std::exchange(y, Var()));
  const Shape shape = z.shape();
  const int slot = std::exchange(z, Var()).slot;
  behind.kept = live();
  tape.Backward(context, slot, RandomTensor(shape, 2, kind.dtype));
  for (const Parameter* parameter : weights.Parameters()) {
    if (const Tensor gradient = environment.store().Gradient(*parameter)) {
      behind.gradients.push_back(CopyOf(gradient));
    }
  }
  // The gradient of x is all that is left: nothing that was made again.
  CHECK(live() == kSamples * kLength * operation.features * SizeOf(kind.dtype));
  return behind;
}

TEST_CASE("what can be made again is not kept by what is behind it, for the same bits",
          "[ops][remake]") {
  const bool in_segment = GENERATE(false, true);
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind << (in_segment ? ", in a segment" : ""));
    for (const Operation& operation : Operations()) {
      INFO(operation.name);
      const RematBehind again = RunBehind(kind, operation, true, in_segment);
      const RematBehind plain = RunBehind(kind, operation, false, in_segment);
      CHECK(plain.kept - again.kept >= kSamples * kLength * kFeatures * SizeOf(kind.dtype));
      CHECK(SameBits(again.gradients, plain.gradients));
    }
  }
}

TEST_CASE("a value is made again once for all that wait for it, and given back by the last",
          "[ops][remake]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  int made = 0;
  Var x = {Full({3}, 1, DType::kF64)};
  const auto make = [&](Context& ctx) {
    ++made;
    return ctx.Allocate({3}, DType::kF64);
  };
  x.remat = std::make_shared<Remat>(make, 0);
  const SavedTensor one(context, x), two(context, x);
  const auto live = [&] { return environment.ledger().live()[MemoryTag::kActivation]; };
  CHECK(live() == 0);
  one.Get(context);
  CHECK(live() > 0);
  CHECK(made == 1);
  two.Get(context);
  CHECK(made == 1);
  CHECK(live() == 0);
}

TEST_CASE("of a residual stream's sums one in four is kept, the others are made again",
          "[ops][remake]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  const Weights weights;
  Tape tape;
  const TapeScope scope(context, &tape);
  const Shape shape = {kSamples, kLength, kFeatures};
  const auto check = [&](const std::function<Var(const Var& x)>& sum) {
    Var x = {RandomTensor(shape, 1, DType::kF64), tape.NewSlot()};
    for (const bool expected : {true, true, true, false, true, true, true, false}) {
      x = sum(x);
      CHECK((x.remat != nullptr) == expected);
    }
  };
  check([&](const Var& x) { return GatedAdd(context, x, Part(DType::kF64, 2), x); });
  check([&](const Var& x) {
    const Var branch = OverBatch(context, weights, {RandomTensor(shape, 2, DType::kF64)});
    return Activate(context, Add(context, branch, x), Activation::kRelu);
  });
}

TEST_CASE("a sum whose branch would have to be kept for it is kept itself", "[ops][remake]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var x = {RandomTensor({kSamples, kFeatures}, 1, DType::kF64), tape.NewSlot()};
  CHECK(Add(context, x, x).remat == nullptr);
  const Var normed = LayerNorm(context, x, {}, 1e-5);
  CHECK(Add(context, x, normed).remat == nullptr);
  CHECK(Add(context, normed, x).remat != nullptr);
}

}  // namespace
}  // namespace frugal::testing
