// Parts of a checkpointed segment that run once.
#include "tests/autograd/segments.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

// Says how the segment of a network runs.
enum class Way : std::uint8_t { kPlain, kAgain, kPartOnce };

Var Once(Context& context, const Var& x, const SegmentFunction& part) {
  VarTuple vars = {x};
  RunOnce(context, vars, [&part](Context& ctx, VarTuple& inner) { inner = {part(ctx, inner[0])}; });
  return vars[0];
}

// Counts how often the part's function ran.
using KeptNetwork = std::function<Var(Context&, const SegmentParts&, const Var&, Way, int& runs)>;

struct KeptOutcome {
  Pass pass;
  std::vector<Tensor> gradients;
  std::vector<Tensor> values;  // with the running statistics
  int runs = 0;
  double recomputed = 0;
};

KeptOutcome RunNetwork(const EnvironmentKind& kind, const KeptNetwork& network, Way way) {
  TestEnvironment environment(kind);
  SegmentParts parts;
  KeptOutcome outcome;
  const auto function = [&](Context& context, const Var& x) {
    return network(context, parts, x, way, outcome.runs);
  };
  outcome.pass = RunPass(environment, function, RandomTensor({5, 6}, 3, kind.dtype));
  outcome.gradients = GradientsOf(environment, parts);
  outcome.values = ValuesOf(environment, parts);
  outcome.recomputed = environment.context().profile().recomputed_flops;
  CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
  return outcome;
}

// `times`: how often the part runs where it runs again.
void CheckOnce(const KeptNetwork& network, int times = 2) {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    const KeptOutcome plain = RunNetwork(kind, network, Way::kPlain);
    const KeptOutcome again = RunNetwork(kind, network, Way::kAgain);
    const KeptOutcome once = RunNetwork(kind, network, Way::kPartOnce);
    CHECK(SameBits(plain.pass.output, once.pass.output));
    REQUIRE(once.pass.input_gradient);
    CHECK(SameBits(plain.pass.input_gradient, once.pass.input_gradient));
    CHECK(SameBits(plain.gradients, once.gradients));
    CHECK(SameBits(plain.values, once.values));
    CHECK(again.runs == times * once.runs);
    CHECK(once.recomputed < again.recomputed);
  }
}

TEST_CASE("a part that runs once changes no bit", "[autograd][checkpoint]") {
  CheckOnce([](Context& context, const SegmentParts& parts, const Var& x, Way way, int& runs) {
    const auto part = [&parts, &runs](Context& ctx, const Var& inner) {
      ++runs;
      return parts.Dense(ctx, parts.Norm(ctx, inner), 1, Activation::kGelu);
    };
    const auto segment = [&parts, part, way](Context& ctx, const Var& start) {
      const Var first = parts.Dense(ctx, start, 0, Activation::kTanh);
      const Var inner = way == Way::kPartOnce ? Once(ctx, first, part) : part(ctx, first);
      return Add(ctx, parts.Dense(ctx, inner, 2, Activation::kRelu), first);
    };
    return Maybe(way != Way::kPlain, context, x, segment);
  });
}

TEST_CASE("a part takes several variables and hands some on", "[autograd][checkpoint]") {
  CheckOnce([](Context& context, const SegmentParts& parts, const Var& x, Way way, int& runs) {
    const TupleSegment part = [&parts, &runs](Context& ctx, VarTuple& vars) {
      ++runs;
      const Var sum = Add(ctx, parts.Dense(ctx, vars[0], 1, Activation::kGelu), vars[1]);
      PushSkip(vars, sum);  // one tensor in two places, and the condition handed on
      vars[0] = sum;
    };
    const TupleSegment segment = [&parts, part, way](Context& ctx, VarTuple& vars) {
      vars[0] = parts.Dense(ctx, vars[0], 0, Activation::kSilu);
      way == Way::kPartOnce ? RunOnce(ctx, vars, part) : part(ctx, vars);
      const Var skip = PopSkip(vars);
      vars[0] = Add(ctx, parts.Dense(ctx, vars[0], 2, Activation::kTanh), skip);
    };
    VarTuple vars = {x, parts.Dense(context, x, 2, Activation::kSigmoid)};
    way == Way::kPlain ? segment(context, vars) : Checkpoint(context, vars, segment);
    return Add(context, vars[0], vars[1]);
  });
}

TEST_CASE("two parts of a segment run once", "[autograd][checkpoint]") {
  CheckOnce([](Context& context, const SegmentParts& parts, const Var& x, Way way, int& runs) {
    const auto first = [&parts, &runs](Context& ctx, const Var& inner) {
      ++runs;
      return parts.Dense(ctx, inner, 0, Activation::kGelu);
    };
    const auto second = [&parts, &runs](Context& ctx, const Var& inner) {
      ++runs;
      return Dropout(ctx, parts.Dense(ctx, inner, 1, Activation::kTanh), 0.4, "drop");
    };
    const auto segment = [&parts, first, second, way](Context& ctx, const Var& start) {
      if (way != Way::kPartOnce) {
        return second(ctx, parts.Dense(ctx, first(ctx, start), 2, Activation::kRelu));
      }
      const Var inner = Once(ctx, start, first);
      return Once(ctx, parts.Dense(ctx, inner, 2, Activation::kRelu), second);
    };
    return Maybe(way != Way::kPlain, context, x, segment);
  });
}

TEST_CASE("a part in a segment inside a segment runs once", "[autograd][checkpoint]") {
  const KeptNetwork network = [](Context& context, const SegmentParts& parts, const Var& x, Way way,
                                 int& runs) {
    const auto part = [&parts, &runs](Context& ctx, const Var& inner) {
      ++runs;
      return parts.Dense(ctx, parts.Norm(ctx, inner), 1, Activation::kGelu);
    };
    const auto inside = [&parts, part, way](Context& ctx, const Var& start) {
      const Var first = parts.Dense(ctx, start, 0, Activation::kTanh);
      return Add(ctx, way == Way::kPartOnce ? Once(ctx, first, part) : part(ctx, first), start);
    };
    const auto segment = [&parts, inside, way](Context& ctx, const Var& start) {
      const Var once = Maybe(way != Way::kPlain, ctx, start, inside);
      return parts.Dense(ctx, once, 2, Activation::kRelu);
    };
    return Maybe(way != Way::kPlain, context, x, segment);
  };
  CheckOnce(network, 3);
}

TEST_CASE("outside of segments a part only runs", "[autograd][checkpoint]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    TestEnvironment environment(kind);
    SegmentParts parts;
    int runs = 0;
    const auto function = [&](Context& context, const Var& x) {
      return Once(context, x, [&](Context& ctx, const Var& inner) {
        ++runs;
        return parts.Dense(ctx, inner, 0, Activation::kGelu);
      });
    };
    const Pass pass = RunPass(environment, function, RandomTensor({5, 6}, 3, kind.dtype));
    CHECK(pass.input_gradient);
    CHECK(runs == 1);
  }
}

}  // namespace
}  // namespace frugal::testing
