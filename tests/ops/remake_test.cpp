#include <functional>
#include <string>
#include <vector>

#include "sdk/autograd/kept_value.h"
#include "sdk/module/module.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/modulation.h"
#include "sdk/ops/sequence.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::test {
namespace {

constexpr std::int64_t kSamples = 4, kLength = 10, kFeatures = 16;

class Weights : public Module {
 public:
  Weights()
      : first(AddParameter("first", {5, kFeatures}, Initializer::Uniform(-1, 1))),
        second(AddParameter("second", {5, kFeatures}, Initializer::Uniform(-1, 1))),
        scale(AddParameter("scale", {kFeatures}, Initializer::Uniform(-1, 1))),
        shift(AddParameter("shift", {kFeatures}, Initializer::Uniform(-1, 1))) {
    AssignPaths("behind");
    NumberParameters(*this);
  }
  const Parameter& first;
  const Parameter& second;
  const Parameter& scale;
  const Parameter& shift;
};

struct Operation {
  std::string name;
  std::int64_t features;  // of x
  std::function<Var(Context&, const Weights&, const Var& x)> run;
};

Var Part(DType dtype, std::uint64_t seed) {
  return {RandomTensor({kSamples, kFeatures}, seed, dtype)};
}

// Whose results can be made again from what their own backward keeps.
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
      // What is normed is itself made again.
      {"norm of a gated sum", kFeatures,
       [](Context& context, const Weights&, const Var& x) {
         const Var sum = GatedAdd(context, x, Part(x.dtype(), 3), x);
         return ModulatedLayerNorm(context, sum, {}, 1e-5, Part(x.dtype(), 4), Part(x.dtype(), 5));
       }},
  };
}

// Two products behind an operation.
struct Behind {
  std::int64_t kept = 0;  // live when forward is through
  std::vector<Tensor> gradients;
};

Behind RunBehind(const WorldKind& kind, const Operation& operation, bool can_be_made_again) {
  TestWorld world(kind);
  Context& context = world.context();
  Weights weights;
  Tape tape;
  Behind behind;
  const TapeScope scope(context, &tape);
  const auto live = [&] { return world.ledger().live()[MemoryTag::kActivation]; };
  Var x = {RandomTensor({kSamples, kLength, operation.features}, 1, kind.dtype), tape.NewSlot()};
  Var y = operation.run(context, weights, std::exchange(x, Var()));
  if (!can_be_made_again) y.remake = nullptr;
  Var z = Linear(context, y, weights.first, nullptr);
  z = Linear(context, std::exchange(y, Var()), weights.second, nullptr, {}, z);
  const int slot = std::exchange(z, Var()).slot;
  behind.kept = live();
  tape.Backward(context, slot, RandomTensor({kSamples, kLength, 5}, 2, kind.dtype));
  for (const Parameter* parameter : weights.Parameters()) {
    if (const Tensor gradient = world.store().Gradient(*parameter)) {
      behind.gradients.push_back(CopyOf(gradient));
    }
  }
  // The gradient of x is all that is left: nothing that was made again.
  CHECK(live() == kSamples * kLength * operation.features * SizeOf(kind.dtype));
  return behind;
}

TEST_CASE("what can be made again is not kept by the products behind it, for the same bits",
          "[ops][remake]") {
  for (const WorldKind& kind : AllWorlds()) {
    INFO(kind);
    for (const Operation& operation : Operations()) {
      INFO(operation.name);
      const Behind again = RunBehind(kind, operation, true);
      const Behind plain = RunBehind(kind, operation, false);
      CHECK(plain.kept - again.kept >= kSamples * kLength * kFeatures * SizeOf(kind.dtype));
      CHECK(SameBits(again.gradients, plain.gradients));
    }
  }
}

TEST_CASE("a value is made again once for all that wait for it, and given back by the last",
          "[ops][remake]") {
  TestWorld world(kReferenceF64);
  Context& context = world.context();
  int made = 0;
  Var x = {Full({3}, 1, DType::kF64)};
  x.remake = std::make_shared<Remake>([&](Context& ctx) {
    ++made;
    return ctx.Allocate({3}, DType::kF64);
  });
  const KeptValue one(x), two(x);
  const auto live = [&] { return world.ledger().live()[MemoryTag::kActivation]; };
  CHECK(live() == 0);
  one.Get(context);
  CHECK(live() > 0);
  CHECK(made == 1);
  two.Get(context);
  CHECK(made == 1);
  CHECK(live() == 0);
}

TEST_CASE("of a residual stream's gated sums every other one is made again", "[ops][remake]") {
  TestWorld world(kReferenceF64);
  Context& context = world.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  Var x = {RandomTensor({kSamples, kLength, kFeatures}, 1, DType::kF64), tape.NewSlot()};
  for (const bool expected : {true, false, true, false}) {
    x = GatedAdd(context, x, Part(DType::kF64, 2), x);
    CHECK((x.remake != nullptr) == expected);
  }
}

}  // namespace
}  // namespace frugal::test
