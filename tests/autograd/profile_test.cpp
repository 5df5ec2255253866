#include "sdk/autograd/profile.h"

#include <type_traits>

#include "sdk/autograd/checkpoint.h"
#include "sdk/ops/activation.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

static_assert(!std::is_default_constructible_v<LaunchCost>, "a launch names its kind");

const KindTotals& TotalsOf(Context& context, OperationKind kind) {
  return context.profile().by_kind[static_cast<std::size_t>(kind)];
}

Var TanhOf(Context& context, const Var& x) { return Activate(context, x, Activation::kTanh); }

void RunBack(Context& context, Tape& tape, const Var& y) {
  tape.Backward(context, y.slot, Full(y.shape(), 1, DType::kF64));
}

TEST_CASE("kinds have names, each its own") {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kOperationKindCount; ++i) {
    names.push_back(NameOf(static_cast<OperationKind>(i)));
    CHECK(names.back() != "");
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
  CHECK(NameOf(OperationKind::kData) == "data");
}

TEST_CASE("bytes are those of the tensors that are there") {
  const Tensor four = Full({4}, 1, DType::kF64);
  const Tensor three = Full({3}, 1);
  CHECK(BytesOf(four) == 32);
  CHECK(BytesOf(four, three, three) == 32 + 12 + 12);
  CHECK(BytesOf(Tensor(), four, Tensor()) == 32);
  CHECK(BytesOf(Full({0, 5}, 1)) == 0);
}

TEST_CASE("a timed launch counts for its label and for its kind", "[autograd][profile]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  context.profile().timed = true;
  const LabelScope label(context, "here");
  context.Launch({.kind = OperationKind::kMatmul, .bytes = 40, .flops = 10},
                 [](Backend&, void*) {});
  context.Launch({OperationKind::kCopy, 7}, [](Backend&, void*) {});
  const KernelTotals& here = context.profile().by_label.at(environment.ledger().label());
  const KernelTotals& product = TotalsOf(context, OperationKind::kMatmul).forward;
  const KernelTotals& copy = TotalsOf(context, OperationKind::kCopy).forward;
  CHECK(here.launches == 2);
  CHECK(here.bytes == 47);
  CHECK(product.launches == 1);
  CHECK(product.flops == 10);
  CHECK(product.bytes == 40);
  CHECK(copy.bytes == 7);
  CHECK(here.seconds == product.seconds + copy.seconds);
}

TEST_CASE("a run that is not timed keeps no account of its kernels", "[autograd][profile]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  TanhOf(context, {Full({2}, 1, DType::kF64)});
  CHECK(context.profile().by_label.empty());
  CHECK(TotalsOf(context, OperationKind::kActivation).forward.launches == 0);
}

TEST_CASE("backward's kernels count apart, what runs again for it does not",
          "[autograd][profile]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  context.profile().timed = true;
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var x{Full({2}, 1, DType::kF64), tape.NewSlot()};
  RunBack(context, tape, Checkpoint(context, x, TanhOf));
  const KindTotals& totals = TotalsOf(context, OperationKind::kActivation);
  CHECK(totals.forward.launches == 2);
  CHECK(totals.backward.launches == 1);
  CHECK(totals.backward.bytes == 3 * 16);  // reads dy and y, writes dx
}

TEST_CASE("what waits for backward, as an optimizer, is not backward's", "[autograd][profile]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  context.profile().timed = true;
  context.set_after_backward([](Context& ctx) {
    ctx.Launch({OperationKind::kOptimizer, 8}, [](Backend&, void*) {});
  });
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var x{Full({2}, 1, DType::kF64), tape.NewSlot()};
  RunBack(context, tape, Checkpoint(context, x, TanhOf));
  const KindTotals& totals = TotalsOf(context, OperationKind::kOptimizer);
  CHECK(totals.forward.launches == 2);  // behind the segment and inside it
  CHECK(totals.backward.launches == 0);
}

}  // namespace
}  // namespace frugal::testing
