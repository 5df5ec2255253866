// These tests count what runs again: all that something reads, and not what a segment ends with.
#include "sdk/ops/elementwise.h"
#include "tests/autograd/segments.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

using Network = std::function<Var(Context&, const SegmentParts&, const Var&, bool checkpointed)>;

struct EndOutcome {
  Pass pass;
  std::vector<Tensor> gradients;
  double recomputed_products = 0;
};

EndOutcome RunToEnd(const EnvironmentKind& kind, const Network& network, bool checkpointed) {
  TestEnvironment environment(kind);
  SegmentParts parts;
  const auto function = [&](Context& context, const Var& x) {
    return network(context, parts, x, checkpointed);
  };
  EndOutcome outcome;
  outcome.pass = RunPass(environment, function, RandomTensor({5, 6}, 3, kind.dtype));
  outcome.gradients = GradientsOf(environment, parts);
  outcome.recomputed_products =
      environment.context().profile().recomputed_flops / (2.0 * 5 * 6 * 6);
  CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
  return outcome;
}

// Checks that no bit of a gradient changes, and how many products run again.
void CheckProducts(double products, const Network& network) {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    const EndOutcome plain = RunToEnd(kind, network, false);
    const EndOutcome again = RunToEnd(kind, network, true);
    CHECK(SameBits(plain.pass.input_gradient, again.pass.input_gradient));
    CHECK(SameBits(plain.gradients, again.gradients));
    CHECK(again.recomputed_products == products);
  }
}

TEST_CASE("the product that a segment ends with does not run again", "[autograd][checkpoint]") {
  CheckProducts(1, [](Context& context, const SegmentParts& parts, const Var& x, bool apart) {
    return Maybe(apart, context, x, [&, apart](Context& ctx, const Var& start) {
      const Var wide = parts.Dense(ctx, start, 0, Activation::kGelu);
      return parts.Dense(ctx, wide, 1, Activation::kIdentity);
    });
  });
}

TEST_CASE("neither do sums behind it", "[autograd][checkpoint]") {
  CheckProducts(1, [](Context& context, const SegmentParts& parts, const Var& x, bool apart) {
    return Maybe(apart, context, x, [&, apart](Context& ctx, const Var& start) {
      const Var wide = parts.Dense(ctx, start, 0, Activation::kSilu);
      const Var features = parts.Dense(ctx, wide, 1, Activation::kIdentity);
      return Add(ctx, Reshape(ctx, Reshape(ctx, features, {30}), {5, 6}), start);
    });
  });
}

TEST_CASE("a product whose result the next one keeps runs again", "[autograd][checkpoint]") {
  CheckProducts(2, [](Context& context, const SegmentParts& parts, const Var& x, bool apart) {
    return Maybe(apart, context, x, [&, apart](Context& ctx, const Var& start) {
      const Var first = parts.Dense(ctx, start, 0, Activation::kIdentity);
      const Var second = parts.Dense(ctx, Add(ctx, first, start), 1, Activation::kIdentity);
      return parts.Dense(ctx, Reshape(ctx, second, {5, 6}), 2, Activation::kIdentity);
    });
  });
}

TEST_CASE("so does one whose own backward keeps its result", "[autograd][checkpoint]") {
  CheckProducts(1, [](Context& context, const SegmentParts& parts, const Var& x, bool apart) {
    return Maybe(apart, context, x, [&, apart](Context& ctx, const Var& start) {
      return parts.Dense(ctx, start, 0, Activation::kTanh);
    });
  });
}

// The inner segment's first run is within the outer one's second, where its end is not made: its
// own second run needs the first product once more.
TEST_CASE("segments inside segments each leave their end", "[autograd][checkpoint]") {
  CheckProducts(3, [](Context& context, const SegmentParts& parts, const Var& x, bool apart) {
    return Maybe(apart, context, x, [&, apart](Context& ctx, const Var& start) {
      const Var inner = Maybe(apart, ctx, start, [&](Context& in, const Var& begin) {
        const Var wide = parts.Dense(in, begin, 0, Activation::kIdentity);
        return parts.Dense(in, wide, 1, Activation::kIdentity);
      });
      return parts.Dense(ctx, inner, 2, Activation::kIdentity);
    });
  });
}

TEST_CASE("a part that runs once hands on what it made", "[autograd][checkpoint]") {
  CheckProducts(0, [](Context& context, const SegmentParts& parts, const Var& x, bool apart) {
    return Maybe(apart, context, x, [&, apart](Context& ctx, const Var& start) {
      return Maybe(apart, ctx, start, [&](Context& in, const Var& begin) {
        VarTuple vars = {begin};
        RunOnce(in, vars, [&](Context& once, VarTuple& inner) {
          inner[0] = parts.Dense(once, inner[0], 0, Activation::kIdentity);
        });
        return parts.Dense(in, vars[0], 1, Activation::kIdentity);
      });
    });
  });
}

}  // namespace
}  // namespace frugal::testing
