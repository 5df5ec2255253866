#include "sdk/autograd/checkpoint.h"

#include "tests/autograd/segments.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

// Holds what a pass leaves behind, to be compared to the bit.
struct Outcome {
  Pass pass;
  std::vector<Tensor> gradients;
  std::vector<Tensor> values;  // with the running statistics
};

using Network = std::function<Var(Context&, const SegmentParts&, const Var&, bool checkpointed)>;

Outcome RunNetwork(const EnvironmentKind& kind, const Network& network, bool checkpointed) {
  TestEnvironment environment(kind);
  SegmentParts parts;
  const Tensor input = RandomTensor({5, 6}, 3, kind.dtype);
  const auto function = [&](Context& context, const Var& x) {
    return network(context, parts, x, checkpointed);
  };
  Outcome outcome;
  outcome.pass = RunPass(environment, function, input);
  outcome.gradients = GradientsOf(environment, parts);
  outcome.values = ValuesOf(environment, parts);
  return outcome;
}

void CheckSameBits(const Network& network) {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    const Outcome plain = RunNetwork(kind, network, false);
    const Outcome again = RunNetwork(kind, network, true);
    CHECK(SameBits(plain.pass.output, again.pass.output));
    REQUIRE(plain.pass.input_gradient);
    REQUIRE(again.pass.input_gradient);
    CHECK(SameBits(plain.pass.input_gradient, again.pass.input_gradient));
    CHECK(SameBits(plain.gradients, again.gradients));
    CHECK(SameBits(plain.values, again.values));
  }
}

TEST_CASE("a checkpointed segment changes no bit", "[autograd][checkpoint]") {
  CheckSameBits([](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
    const Var before = parts.Dense(context, x, 0, Activation::kGelu);
    return Maybe(checkpointed, context, before, [&](Context& ctx, const Var& start) {
      return parts.Dense(ctx, parts.Dense(ctx, start, 1, Activation::kRelu), 2, Activation::kTanh);
    });
  });
}

TEST_CASE("a segment whose input has several uses changes no bit", "[autograd][checkpoint]") {
  CheckSameBits([](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
    const Var early = parts.Dense(context, x, 2, Activation::kSilu);  // used before the segment
    const Var inside = Maybe(checkpointed, context, x, [&](Context& ctx, const Var& start) {
      const Var once = parts.Dense(ctx, start, 0, Activation::kTanh);
      const Var twice = Add(ctx, once, start);
      return Add(ctx, parts.Dense(ctx, start, 1, Activation::kGelu), twice);
    });
    const Var late = Activate(context, x, Activation::kSigmoid);  // used behind it
    const Var later = parts.Dense(context, x, 0, Activation::kIdentity);
    return Add(context, Add(context, Add(context, early, late), inside), later);
  });
}

TEST_CASE("two segments share an input and change no bit", "[autograd][checkpoint]") {
  CheckSameBits([](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
    const Var a = Maybe(checkpointed, context, x, [&](Context& ctx, const Var& start) {
      return parts.Dense(ctx, start, 0, Activation::kTanh);
    });
    const Var b = Maybe(checkpointed, context, x, [&](Context& ctx, const Var& start) {
      return Add(ctx, parts.Dense(ctx, start, 1, Activation::kRelu), start);
    });
    return Add(context, Add(context, a, x), b);
  });
}

TEST_CASE("nested segments change no bit", "[autograd][checkpoint]") {
  CheckSameBits([](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
    return Maybe(checkpointed, context, x, [&, checkpointed](Context& outer, const Var& start) {
      const Var first = parts.Dense(outer, start, 0, Activation::kGelu);
      const Var inner =
          Maybe(checkpointed, outer, first, [&, checkpointed](Context& ctx, const Var& middle) {
            const Var normed = parts.Norm(ctx, Dropout(ctx, middle, 0.3, "inner"));
            return Maybe(checkpointed, ctx, normed, [&](Context& innermost, const Var& last) {
              return Add(innermost, parts.Dense(innermost, last, 1, Activation::kTanh), last);
            });
          });
      return Add(outer, parts.Dense(outer, inner, 2, Activation::kIdentity), first);
    });
  });
}

TEST_CASE("dropout in a segment draws the same mask again", "[autograd][checkpoint]") {
  CheckSameBits([](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
    context.set_step(17);
    return Maybe(checkpointed, context, x, [&](Context& ctx, const Var& start) {
      const Var dropped = Dropout(ctx, start, 0.5, "a");
      return Dropout(ctx, parts.Dense(ctx, dropped, 0, Activation::kRelu), 0.2, "b");
    });
  });
}

TEST_CASE("batch norm in a segment moves its statistics once", "[autograd][checkpoint]") {
  const Network network = [](Context& context, const SegmentParts& parts, const Var& x,
                             bool checkpointed) {
    return Maybe(checkpointed, context, x, [&](Context& ctx, const Var& start) {
      return parts.Norm(ctx, parts.Dense(ctx, start, 0, Activation::kIdentity));
    });
  };
  CheckSameBits(network);
  TestEnvironment environment(kReferenceF64);
  SegmentParts parts;
  const Tensor input = RandomTensor({5, 6}, 3, DType::kF64);
  RunPass(
      environment, [&](Context& ctx, const Var& x) { return network(ctx, parts, x, true); }, input);
  // Once, with momentum 0.1 from zero: a tenth of the batch's mean.
  Var normed_input;
  {
    const TapeScope no_tape(environment.context(), nullptr);
    normed_input = parts.Dense(environment.context(), {input}, 0, Activation::kIdentity);
  }
  const std::vector<double> running = Values(environment.store().Value(parts.running_mean()));
  const std::vector<double> rows = Values(normed_input.value);
  for (std::size_t c = 0; c < 6; ++c) {
    double mean = 0;
    for (std::size_t row = 0; row < 5; ++row) mean += rows[row * 6 + c] / 5;
    CHECK(running[c] == Approx(0.1 * mean));
  }
}

TEST_CASE("a segment that is the identity passes gradients through", "[autograd][checkpoint]") {
  CheckSameBits([](Context& context, const SegmentParts& parts, const Var& x, bool checkpointed) {
    const Var same =
        Maybe(checkpointed, context, x, [](Context&, const Var& start) { return start; });
    return Add(context, parts.Dense(context, same, 0, Activation::kTanh), x);
  });
}

TEST_CASE("a segment runs exactly twice", "[autograd][checkpoint]") {
  TestEnvironment environment(kReferenceF64);
  SegmentParts parts;
  int runs = 0;
  int recomputed = 0;
  const Tensor input = RandomTensor({5, 6}, 3, DType::kF64);
  const auto segment = [&](Context& ctx, const Var& x) {
    ++runs;
    recomputed += ctx.recomputing() ? 1 : 0;
    return parts.Dense(ctx, x, 0, Activation::kRelu);
  };
  const auto network = [&](Context& ctx, const Var& x) { return Checkpoint(ctx, x, segment); };
  RunPass(environment, network, input);
  CHECK(runs == 2);
  CHECK(recomputed == 1);
  CHECK_FALSE(environment.context().recomputing());

  runs = 0;  // and once where there is no tape
  network(environment.context(), {input});
  CHECK(runs == 1);
}

TEST_CASE("recomputed work is counted apart", "[autograd][checkpoint]") {
  TestEnvironment environment(kReferenceF64);
  SegmentParts parts;
  const auto dense = [&](Context& ctx, const Var& x) {
    return parts.Dense(ctx, x, 0, Activation::kRelu);
  };
  const double product = 2.0 * 5 * 6 * 6;
  RunPass(
      environment, [&](Context& ctx, const Var& x) { return Checkpoint(ctx, x, dense); },
      RandomTensor({5, 6}, 3, DType::kF64));
  CHECK(environment.context().profile().flops == 4 * product);  // forward twice, two gradients
  CHECK(environment.context().profile().recomputed_flops == product);
}

TEST_CASE("a segment over an input without gradient still trains its parameters",
          "[autograd][checkpoint]") {
  for (const bool checkpointed : {false, true}) {
    TestEnvironment environment(kReferenceF64);
    SegmentParts parts;
    Context& context = environment.context();
    Tape tape;
    const TapeScope scope(context, &tape);
    const Var x = {RandomTensor({5, 6}, 3, DType::kF64), Var::kNoGradient};
    const Var y = Maybe(checkpointed, context, x, [&](Context& ctx, const Var& start) {
      return parts.Dense(ctx, start, 0, Activation::kTanh);
    });
    tape.Backward(context, y.slot, RandomTensor({5, 6}, 4, DType::kF64));
    CHECK(environment.store().Gradient(*parts.Parameters()[0]));
    CHECK_FALSE(environment.store().Gradient(*parts.Parameters()[2]));  // not part of it
  }
}

TEST_CASE("an error in the second run leaves the context as it was", "[autograd][checkpoint]") {
  TestEnvironment environment(kReferenceF64);
  int runs = 0;
  const auto segment = [&](Context& ctx, const Var& x) {
    if (++runs == 2) throw std::runtime_error("second run");
    return Activate(ctx, x, Activation::kTanh);
  };
  const auto network = [&](Context& ctx, const Var& x) { return Checkpoint(ctx, x, segment); };
  CHECK_THROWS_WITH(RunPass(environment, network, RandomTensor({2, 3}, 1, DType::kF64)),
                    "second run");
  CHECK_FALSE(environment.context().recomputing());
  CHECK(environment.context().tape() == nullptr);
  CHECK(environment.ledger().live_total() == 0);
}

}  // namespace
}  // namespace frugal::testing
