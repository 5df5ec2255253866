#include "sdk/autograd/finite_difference.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

// y = x^2 with a gradient of `factor` x.
CheckedFunction Square(double factor) {
  return [=](Context& context, const std::vector<Var>& inputs) {
    const Var x = inputs[0];
    const Tensor y = context.Allocate(x.shape(), x.dtype());
    for (std::size_t i = 0; i < y.values<double>().size(); ++i) {
      y.data<double>()[i] = x.value.data<double>()[i] * x.value.data<double>()[i];
    }
    return context.Record(y, x.needs_gradient(), [=](Context& ctx, Tensor dy) {
      const Tensor dx = ctx.Allocate(x.shape(), x.dtype());
      for (std::size_t i = 0; i < dx.values<double>().size(); ++i) {
        dx.data<double>()[i] = factor * x.value.data<double>()[i] * dy.data<double>()[i];
      }
      ctx.Accumulate(x.slot, dx);
    });
  };
}

TEST_CASE("a right gradient passes and a wrong one does not", "[autograd][differences]") {
  TestEnvironment environment(kReferenceF64);
  const Tensor x = RandomTensor({3, 4}, 1, DType::kF64);
  const std::vector<double> before = Values(x);
  CHECK(FiniteDifferenceErrors(environment.context(), Square(2), {x})[0] < 1e-8);
  CHECK(FiniteDifferenceErrors(environment.context(), Square(2.01), {x})[0] == Approx(0.01 / 2.01));
  CHECK(FiniteDifferenceErrors(environment.context(), Square(-2), {x})[0] == Approx(2));
  CHECK(Values(x) == before);
  CHECK(environment.ledger().live_total() == 0);
}

TEST_CASE("a missing gradient is infinitely wrong", "[autograd][differences]") {
  TestEnvironment environment(kReferenceF64);
  const Tensor x = RandomTensor({3}, 1, DType::kF64);
  const CheckedFunction blocked = [](Context& context, const std::vector<Var>& inputs) {
    return Square(2)(context, {{inputs[0].value}});
  };
  CHECK(std::isinf(FiniteDifferenceErrors(environment.context(), blocked, {x})[0]));
  // An input without any influence has a gradient of zero, arrived or not.
  const CheckedFunction ignoring = [](Context& context, const std::vector<Var>& inputs) {
    return Square(2)(context, {inputs[1]});
  };
  const Tensor other = RandomTensor({2}, 2, DType::kF64);
  const auto errors = FiniteDifferenceErrors(environment.context(), ignoring, {x, other});
  CHECK(errors[0] == 0);
  CHECK(errors[1] < 1e-8);
}

TEST_CASE("outside leaves are checked by the gradient they give", "[autograd][differences]") {
  TestEnvironment environment(kReferenceF64);
  const Tensor weight = RandomTensor({3}, 1, DType::kF64);
  const CheckedFunction function = [&](Context& context, const std::vector<Var>&) {
    return Square(2)(context, {{weight}});
  };
  const auto zero = [] { return Full({3}, 0, DType::kF64); };
  const auto nan = [] { return Full({3}, std::nan(""), DType::kF64); };
  const auto errors =
      FiniteDifferenceErrors(environment.context(), function, {}, {{weight, zero}, {weight, nan}});
  CHECK(errors[0] == Approx(1));
  CHECK(std::isinf(errors[1]));
}

TEST_CASE("differences in f32 are refused", "[autograd][differences]") {
  TestEnvironment f32(kReferenceF32);
  const std::string sentence =
      "[finite differences] everything is f64; f32; use the reference backend in f64";
  CHECK_THROWS_WITH(FiniteDifferenceErrors(f32.context(), Square(2), {}), sentence);
  TestEnvironment f64(kReferenceF64);
  CHECK_THROWS_WITH(FiniteDifferenceErrors(f64.context(), Square(2), {RandomTensor({3}, 1)}),
                    sentence);
}

}  // namespace
}  // namespace frugal::testing
