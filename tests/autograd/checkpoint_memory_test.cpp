#include "tests/autograd/segments.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

constexpr int kDepth = 16;

// A chain of kDepth layers, every `every` of them a segment (0 = none), without products whose
// scratch would blur the picture.
Var Chain(Context& context, Var x, int every) {
  const auto run = [](Context& ctx, Var y, int count) {
    for (int i = 0; i < count; ++i) y = Activate(ctx, y, Activation::kSilu);
    return y;
  };
  if (every == 0) return run(context, std::move(x), kDepth);
  for (int i = 0; i < kDepth; i += every) {
    x = Checkpoint(context, x,
                   [=](Context& ctx, const Var& start) { return run(ctx, start, every); });
  }
  return x;
}

struct Use {
  std::int64_t peak;
  std::int64_t live_after;
};

Use Measure(const EnvironmentKind& kind, int every) {
  TestEnvironment environment(kind);
  const Tensor input = RandomTensor({64, 32}, 1, kind.dtype);
  RunPass(
      environment, [=](Context& context, const Var& x) { return Chain(context, x, every); }, input);
  return {environment.ledger().peak_total(), environment.ledger().live_total()};
}

TEST_CASE("checkpointing a deep chain lowers its peak", "[autograd][checkpoint][memory]") {
  const std::int64_t unit = 64 * 32 * 8;  // one activation in f64
  const Use plain = Measure(kReferenceF64, 0);
  CHECK(plain.peak >= kDepth * unit);
  CHECK(plain.peak <= (kDepth + 1) * unit);
  for (const int every : {2, 4, 8}) {
    INFO("every " << every);
    const Use use = Measure(kReferenceF64, every);
    // The segments' inputs, one segment's activations and two gradients.
    CHECK(use.peak <= (kDepth / every + every + 2) * unit);
    CHECK(use.peak < plain.peak);
  }
  CHECK(Measure(kReferenceF64, 4).peak <= plain.peak * 6 / 10);
}

TEST_CASE("a pass gives back everything it took", "[autograd][checkpoint][memory]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    for (const int every : {0, 1, 4, 16}) CHECK(Measure(kind, every).live_after == 0);
  }
}

// Values pushed by the first segment are taken by the last, so that in the backward pass of the
// two between them only their gradients are there.
TEST_CASE("a segment does not hold a skip across it", "[autograd][checkpoint][memory]") {
  constexpr int kAside = 8;
  const auto peak = [](bool aside) {
    TestEnvironment environment(kReferenceF64);
    const auto network = [=](Context& context, const Var& x) {
      VarTuple vars = {x};
      const auto middle = [](Context& ctx, VarTuple& b) {
        for (int i = 0; i < 12; ++i) b[0] = Activate(ctx, b[0], Activation::kSilu);
      };
      Checkpoint(context, vars, [=](Context& ctx, VarTuple& b) {
        for (int i = 0; i < kAside; ++i) {
          b[0] = Activate(ctx, b[0], Activation::kTanh);
          aside ? PushSkip(b, b[0]) : b.push_back(b[0]);
        }
      });
      Checkpoint(context, vars, middle);
      Checkpoint(context, vars, middle);
      Checkpoint(context, vars, [](Context& ctx, VarTuple& b) {
        for (int i = 0; i < kAside; ++i) b[0] = Add(ctx, b[0], PopSkip(b));
      });
      return vars[0];
    };
    RunPass(environment, network, RandomTensor({64, 32}, 1, DType::kF64));
    return environment.ledger().peak_total();
  };
  const std::int64_t unit = 64 * 32 * 8;
  // The last of the values is also the input of the first segment between.
  CHECK(peak(true) <= (kAside + 12 + 4) * unit);
  std::printf("true %ld false %ld\n", peak(true) / unit, peak(false) / unit);
  CHECK(peak(false) >= peak(true) + (kAside - 2) * unit);
}

TEST_CASE("after a step only parameters and gradients are live", "[autograd][checkpoint][memory]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    SegmentParts parts;
    const Tensor input = RandomTensor({5, 6}, 3, kind.dtype);
    const auto network = [&](Context& context, const Var& x) {
      return Checkpoint(context, x, [&](Context& ctx, const Var& start) {
        return parts.Norm(ctx, parts.Dense(ctx, start, 0, Activation::kGelu));
      });
    };
    RunPass(environment, network, input);
    const BytesByTag live = environment.ledger().live();
    CHECK(live[MemoryTag::kActivation] == 0);
    CHECK(live[MemoryTag::kWorkspace] == 0);
    CHECK(live[MemoryTag::kParameter] > 0);
    CHECK(live[MemoryTag::kGradient] > 0);
    RunPass(environment, network, input);  // a second step takes no more
    CHECK(environment.ledger().live() == live);
  }
}

}  // namespace
}  // namespace frugal::testing
