#include "sdk/autograd/tape.h"

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

Tensor Ones(const Shape& shape) { return Full(shape, 1, DType::kF64); }

TEST_CASE("nothing is recorded without a tape or without need", "[autograd][tape]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  const Var no_tape = Activate(context, {Ones({3}), 0}, Activation::kTanh);
  CHECK_FALSE(no_tape.needs_gradient());
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var no_need = Activate(context, {Ones({3})}, Activation::kTanh);
  CHECK_FALSE(no_need.needs_gradient());
  CHECK(tape.node_count() == 0);
}

TEST_CASE("gradients that meet are summed, and shared ones do not change", "[autograd][tape]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  const int a = tape.NewSlot();
  const int b = tape.NewSlot();
  const Tensor shared = MakeTensor<double>({2}, {1, 2}, DType::kF64);
  tape.Accumulate(context, a, shared);
  tape.Accumulate(context, b, shared);
  tape.Accumulate(context, a, MakeTensor<double>({2}, {10, 20}, DType::kF64));
  tape.Accumulate(context, Var::kNoGradient, shared);  // nowhere to go
  CHECK(Values(tape.TakeGradient(a)) == std::vector<double>{11, 22});
  CHECK(Values(tape.TakeGradient(b)) == std::vector<double>{1, 2});
  CHECK(Values(shared) == std::vector<double>{1, 2});
  CHECK_FALSE(tape.TakeGradient(a));  // taken
}

TEST_CASE("backward runs in reverse, skips what nobody asked for and empties the tape",
          "[autograd][tape]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  std::vector<int> order;
  const auto record = [&](int name, int input) {
    return context.Record(Ones({1}), true, [&order, name, input](Context& ctx, Tensor gradient) {
      order.push_back(name);
      ctx.Accumulate(input, std::move(gradient));
    });
  };
  const int leaf = tape.NewSlot();
  const Var first = record(1, leaf);
  const Var second = record(2, first.slot);
  record(3, first.slot);  // its result is never used
  const Var last = record(4, second.slot);
  CHECK(tape.node_count() == 4);
  tape.Backward(context, last.slot, Ones({1}));
  CHECK(order == std::vector<int>{4, 2, 1});
  CHECK(tape.node_count() == 0);
  CHECK(Values(tape.gradient(leaf)) == std::vector<double>{1});
}

TEST_CASE("backward works in the name of the layer that recorded", "[autograd][tape]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  Tape tape;
  const TapeScope scope(context, &tape);
  std::string name;
  Var y;
  {
    const LabelScope label(context, "conv1");
    y = context.Record(Ones({1}), true, [&](Context& ctx, Tensor) {
      name = ctx.ledger().labels().NameOf(ctx.ledger().label());
    });
  }
  tape.Backward(context, y.slot, Ones({1}));
  CHECK(name == "conv1");
  CHECK(environment.ledger().labels().NameOf(environment.ledger().label()) == "other");
}

TEST_CASE("a cleared tape holds nothing", "[autograd][tape]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  Tape tape;
  {
    const TapeScope scope(context, &tape);
    Var x = {Ones({4}), tape.NewSlot()};
    for (int i = 0; i < 3; ++i) x = Activate(context, x, Activation::kTanh);
  }
  CHECK(environment.ledger().live_total() > 0);
  tape.Clear();
  CHECK(tape.node_count() == 0);
  CHECK(environment.ledger().live_total() == 0);
}

TEST_CASE("a launch has its scratch while the kernel runs, and dry runs no kernel",
          "[autograd][dry]") {
  for (const bool dry : {false, true}) {
    TestEnvironment environment({BackendKind::kEigen, DType::kF64, dry});
    int runs = 0;
    environment.context().Launch({.kind = OperationKind::kCopy, .bytes = 0, .scratch_bytes = 100},
                                 [&](Backend&, void* scratch) {
                                   ++runs;
                                   CHECK(scratch != nullptr);
                                   CHECK(environment.ledger().live()[MemoryTag::kWorkspace] == 128);
                                 });
    CHECK(runs == (dry ? 0 : 1));
    CHECK(environment.ledger().peak()[MemoryTag::kWorkspace] == 128);
    CHECK(environment.ledger().live_total() == 0);
  }
}

}  // namespace
}  // namespace frugal::testing
