// Checkpointed segments that several variables go through.
#include "tests/autograd/segments.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

// Runs `segment` as it is, or checkpointed.
void Through(bool checkpointed, Context& context, VarTuple& vars, const TupleSegment& segment) {
  if (checkpointed) return Checkpoint(context, vars, segment);
  segment(context, vars);
}

using TupleNetwork =
    std::function<Var(Context&, const SegmentParts&, const Var&, bool checkpointed)>;

struct TupleOutcome {
  Pass pass;
  std::vector<Tensor> gradients;
};

TupleOutcome RunTuples(const EnvironmentKind& kind, const TupleNetwork& network,
                       bool checkpointed) {
  TestEnvironment environment(kind);
  SegmentParts parts;
  const Tensor input = RandomTensor({5, 6}, 3, kind.dtype);
  const auto function = [&](Context& context, const Var& x) {
    return network(context, parts, x, checkpointed);
  };
  TupleOutcome outcome;
  outcome.pass = RunPass(environment, function, input);
  outcome.gradients = GradientsOf(environment, parts);
  CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
  return outcome;
}

void CheckSameTupleBits(const TupleNetwork& network) {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    const TupleOutcome plain = RunTuples(kind, network, false);
    const TupleOutcome again = RunTuples(kind, network, true);
    CHECK(SameBits(plain.pass.output, again.pass.output));
    REQUIRE(plain.pass.input_gradient);
    REQUIRE(again.pass.input_gradient);
    CHECK(SameBits(plain.pass.input_gradient, again.pass.input_gradient));
    CHECK(SameBits(plain.gradients, again.gradients));
  }
}

TEST_CASE("a condition handed on by every segment changes no bit", "[autograd][checkpoint]") {
  CheckSameTupleBits(
      [](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
        VarTuple vars = {x, parts.Dense(context, x, 2, Activation::kTanh)};
        for (const std::size_t i : {0u, 1u}) {
          Through(checkpointed, context, vars, [&parts, i](Context& ctx, VarTuple& b) {
            b[0] = Add(ctx, parts.Dense(ctx, b[0], i, Activation::kGelu), b[1]);
          });
        }
        return Add(context, vars[0], vars[1]);
      });
}

TEST_CASE("two streams that both change, change no bit", "[autograd][checkpoint]") {
  CheckSameTupleBits(
      [](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
        VarTuple vars = {x, Activate(context, x, Activation::kSigmoid)};
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          const Var first = parts.Dense(ctx, b[0], 0, Activation::kTanh);
          b[1] = Add(ctx, parts.Dense(ctx, b[1], 1, Activation::kGelu), first);
          b[0] = Dropout(ctx, first, 0.4, "drop");
        });
        return Add(context, vars[0], parts.Dense(context, vars[1], 2, Activation::kRelu));
      });
}

TEST_CASE("skips that are added in one segment and taken in another change no bit",
          "[autograd][checkpoint]") {
  CheckSameTupleBits(
      [](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
        VarTuple vars = {x};
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          b[0] = parts.Dense(ctx, b[0], 0, Activation::kTanh);
          b.push_back(b[0]);  // one tensor in two places
        });
        CHECK(vars.size() == 2);
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          b[0] = parts.Dense(ctx, b[0], 1, Activation::kGelu);
        });
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          const Var skip = b.back();
          b.pop_back();
          b[0] = Add(ctx, parts.Dense(ctx, b[0], 2, Activation::kRelu), skip);
        });
        CHECK(vars.size() == 1);
        return vars[0];
      });
}

TEST_CASE("a skip in one segment and taken in a later one changes no bit",
          "[autograd][checkpoint]") {
  CheckSameTupleBits(
      [](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
        VarTuple vars = {x};
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          b[0] = parts.Dense(ctx, b[0], 0, Activation::kTanh);
          PushSkip(b, b[0]);
          PushSkip(b, Activate(ctx, b[0], Activation::kSilu));
        });
        // Nothing is taken here but what the segment itself puts aside; nested, one that takes
        // nothing.
        Through(checkpointed, context, vars, [&, checkpointed](Context& outer, VarTuple& b) {
          PushSkip(b, b[0]);
          Through(checkpointed, outer, b, [&](Context& ctx, VarTuple& inner) {
            inner[0] = Dropout(ctx, parts.Dense(ctx, inner[0], 1, Activation::kGelu), 0.3, "drop");
          });
          b[0] = Add(outer, b[0], PopSkip(b));
        });
        CHECK(vars.size() == 3);
        Through(checkpointed, context, vars,
                [&](Context& ctx, VarTuple& b) { b[0] = Add(ctx, b[0], PopSkip(b)); });
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          b[0] = Add(ctx, parts.Dense(ctx, b[0], 2, Activation::kRelu), PopSkip(b));
        });
        CHECK(vars.size() == 1);
        return vars[0];
      });
}

TEST_CASE("nested segments of tuples change no bit", "[autograd][checkpoint]") {
  CheckSameTupleBits([](Context& context, const SegmentParts& parts, const Var& x,
                        bool checkpointed) {
    VarTuple vars = {x, parts.Dense(context, x, 2, Activation::kSilu)};
    Through(checkpointed, context, vars, [&, checkpointed](Context& outer, VarTuple& b) {
      b[0] = parts.Dense(outer, b[0], 0, Activation::kTanh);
      Through(checkpointed, outer, b, [&, checkpointed](Context& inner, VarTuple& c) {
        c.push_back(Add(inner, c[0], c[1]));
        Through(checkpointed, inner, c, [&](Context& innermost, VarTuple& d) {
          d[0] = Dropout(innermost, parts.Dense(innermost, d[2], 1, Activation::kGelu), 0.3, "d");
        });
      });
      b[0] = Add(outer, b[0], b[2]);
      b.pop_back();
    });
    return Add(context, vars[0], vars[1]);
  });
}

TEST_CASE("an output that nothing is differentiated by beside one that is, changes no bit",
          "[autograd][checkpoint]") {
  CheckSameTupleBits(
      [](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
        VarTuple vars = {x, {RandomTensor({5, 6}, 8, x.dtype())}};
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          b[0] = parts.Dense(ctx, b[0], 0, Activation::kTanh);
          b[1] = Activate(ctx, b[1], Activation::kSigmoid);  // of data alone
        });
        return Add(context, vars[0], vars[1]);
      });
}

TEST_CASE("an output that is never used changes no bit", "[autograd][checkpoint]") {
  CheckSameTupleBits(
      [](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
        VarTuple vars = {x, x};
        Through(checkpointed, context, vars, [&](Context& ctx, VarTuple& b) {
          b[1] = parts.Dense(ctx, b[0], 1, Activation::kTanh);
          b[0] = parts.Dense(ctx, b[0], 0, Activation::kTanh);
        });
        return vars[0];
      });
}

// Runs `segment` checkpointed on {x, y, labels} and hands what comes out to `check`.
void Look(const TupleSegment& segment,
          const std::function<void(const VarTuple& before, const VarTuple& after)>& check) {
  TestEnvironment environment(kReferenceF64);
  Tape tape;
  const TapeScope scope(environment.context(), &tape);
  const VarTuple before = {{RandomTensor({5, 6}, 1, DType::kF64), tape.NewSlot()},
                           {RandomTensor({5, 6}, 2, DType::kF64), tape.NewSlot()},
                           {MakeTensor({5}, std::vector<double>{0, 1, 2, 3, 4}, DType::kI64)}};
  VarTuple after = before;
  Checkpoint(environment.context(), after, segment);
  check(before, after);
}

TEST_CASE("what is handed on stays the same variable", "[autograd][checkpoint]") {
  const auto segment = [](Context& context, VarTuple& b) {
    b[0] = Activate(context, b[0], Activation::kTanh);
    std::swap(b[0], b[1]);
    b.push_back(b[1]);
    b.push_back(Activate(context, b[0], Activation::kSigmoid));
  };
  Look(segment, [](const VarTuple& before, const VarTuple& after) {
    REQUIRE(after.size() == 5);
    CHECK(after[0].slot == before[1].slot);  // changed places
    CHECK(after[0].value.raw() == before[1].value.raw());
    CHECK(after[2].slot == Var::kNoGradient);  // labels
    CHECK(after[2].value.raw() == before[2].value.raw());
    CHECK(after[1].needs_gradient());
    CHECK(after[1].slot != before[0].slot);
    CHECK(after[1].slot != before[1].slot);
    CHECK(after[3].slot == after[1].slot);  // one tensor in two places is one variable
    CHECK(after[4].needs_gradient());
    CHECK(after[4].slot != after[1].slot);
  });
}

TEST_CASE("a segment that only drops and reorders records nothing", "[autograd][checkpoint]") {
  const auto segment = [](Context&, VarTuple& b) { b = {b[2], b[0]}; };
  Look(segment, [](const VarTuple& before, const VarTuple& after) {
    REQUIRE(after.size() == 2);
    CHECK(after[0].slot == Var::kNoGradient);
    CHECK(after[1].slot == before[0].slot);
  });
}

TEST_CASE("an empty tuple goes through", "[autograd][checkpoint]") {
  Look([](Context&, VarTuple& b) { b.clear(); },
       [](const VarTuple&, const VarTuple& after) { CHECK(after.empty()); });
}

TEST_CASE("without a tape a segment of several runs once", "[autograd][checkpoint]") {
  TestEnvironment environment(kReferenceF64);
  VarTuple vars = {{RandomTensor({5, 6}, 1, DType::kF64)}, {RandomTensor({5, 6}, 2, DType::kF64)}};
  int runs = 0;
  Checkpoint(environment.context(), vars, [&](Context& context, VarTuple& b) {
    ++runs;
    b[0] = Add(context, b[0], b[1]);
  });
  CHECK(runs == 1);
  CHECK_FALSE(vars[0].needs_gradient());
}

}  // namespace
}  // namespace frugal::testing
