#include "sdk/ops/pointwise.h"

#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/reduce.h"
#include "tests/ops/operation_run.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Point = std::function<Var(Context&, const Var&)>;

std::vector<std::pair<std::string, Point>> Points() {
  // From [-1, 1) to where logarithms and roots are.
  const auto positive = [](Context& c, const Var& x) { return AddScalar(c, x, 1.5); };
  return {
      {"exp", [](Context& c, const Var& x) { return Exp(c, x); }},
      {"log", [=](Context& c, const Var& x) { return Log(c, positive(c, x)); }},
      {"sqrt", [=](Context& c, const Var& x) { return Sqrt(c, positive(c, x)); }},
      {"abs", [](Context& c, const Var& x) { return Abs(c, x); }},
      {"x^2", [](Context& c, const Var& x) { return Pow(c, x, 2); }},
      {"x^3", [](Context& c, const Var& x) { return Pow(c, x, 3); }},
      {"x^0", [](Context& c, const Var& x) { return Pow(c, x, 0); }},
      {"x^-1.3", [=](Context& c, const Var& x) { return Pow(c, positive(c, x), -1.3); }},
      {"clamp", [](Context& c, const Var& x) { return Clamp(c, x, -0.51, 0.26); }},
      {"half clamp", [](Context& c, const Var& x) { return Clamp(c, x, -kInfinity, 0.26); }},
      {"add", [](Context& c, const Var& x) { return AddScalar(c, x, -2); }},
  };
}

TEST_CASE("gradients of functions of elements agree with differences", "[ops][gradients]") {
  for (const auto& one : Points()) {
    INFO(one.first);
    GradientModel model;
    model.Check([&](Context& c, const std::vector<Var>& x) { return one.second(c, x[0]); },
                {Separated({3, 7}, 21)});
  }
}

TEST_CASE("functions of elements are alike in every environment", "[ops]") {
  for (const auto& one : Points()) {
    INFO(one.first);
    CheckInEveryEnvironment(
        [&](Context& c, const std::vector<Var>& x) { return one.second(c, x[0]); }, {{5, 33}});
  }
}

// The condition is made of a third input, as a layer would make it.
Var ChooseLarger(Context& c, const std::vector<Var>& x) {
  return Where(c, Greater(c, x[2], Constant(c, {1}, 0.1)), x[0], x[1]);
}

TEST_CASE("a choice takes either side, repeated as needed", "[ops][gradients]") {
  const std::vector<std::vector<Shape>> shapes = {
      {{3, 4}, {3, 4}, {3, 4}}, {{3, 1}, {4}, {3, 4}}, {{4}, {2, 3, 1}, {3, 1}}};
  for (const std::vector<Shape>& three : shapes) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < three.size(); ++i) inputs.push_back(Numbers(three[i], 30 + i));
    GradientModel model;
    model.Check(ChooseLarger, inputs);
    // A condition in bf16 is 0 or 1 all the same, but is made of rounded numbers.
    for (EnvironmentKind kind : AllEnvironments()) {
      const OperationRun exact = RunOperation(kReferenceF64, ChooseLarger, three);
      CheckAgree(RunOperation(kind, ChooseLarger, three), exact, 2e-5);
    }
  }
}

// Values and gradient of a function at one number.
struct At {
  double value, slope;
};
At ValueAt(const Point& point, double x) {
  TestEnvironment environment(kReferenceF64);
  const Pass pass = RunPass(environment, point, MakeTensor<double>({1}, {x}, DType::kF64));
  // RunPass goes back from a random number.
  const double seed = Value(RandomTensor({1}, 99, DType::kF64));
  return {Value(pass.output), Value(pass.input_gradient) / seed};
}

TEST_CASE("edges are PyTorch's", "[ops]") {
  const auto log = [](Context& c, const Var& x) { return Log(c, x); };
  CHECK(ValueAt(log, 0).value == -kInfinity);
  CHECK(std::isinf(ValueAt(log, 0).slope));
  CHECK(std::isnan(ValueAt(log, -1).value));
  const auto sqrt = [](Context& c, const Var& x) { return Sqrt(c, x); };
  CHECK(ValueAt(sqrt, 0).value == 0);
  CHECK(std::isinf(ValueAt(sqrt, 0).slope));
  const auto power = [](double exponent) {
    return [exponent](Context& c, const Var& x) { return Pow(c, x, exponent); };
  };
  CHECK(std::isinf(ValueAt(power(0.5), 0).slope));
  CHECK(std::isnan(ValueAt(power(0.5), -1).value));
  CHECK(ValueAt(power(1), 0).slope == 1);
  CHECK(ValueAt(power(0), kNaN).value == 1);
  CHECK(ValueAt(power(0), kNaN).slope == 0);
  CHECK(ValueAt(power(-1), 0).value == kInfinity);
  const auto clamp = [](Context& c, const Var& x) { return Clamp(c, x, -1, 2); };
  CHECK(ValueAt(clamp, 2).slope == 1);
  CHECK(ValueAt(clamp, -1).slope == 1);
  CHECK(ValueAt(clamp, std::nextafter(2, 3)).slope == 0);
  CHECK(ValueAt(clamp, kInfinity).value == 2);
  CHECK(std::isnan(ValueAt(clamp, kNaN).value));
  CHECK(ValueAt(clamp, kNaN).slope == 0);
  const auto abs = [](Context& c, const Var& x) { return Abs(c, x); };
  CHECK(ValueAt(abs, 0).slope == 0);
}

TEST_CASE("what was not chosen leaves nothing, not its NaN either", "[ops]") {
  const Tensor condition = MakeTensor<int>({4}, {1, 0, 0, 5}, DType::kU8);
  const auto choose = [&](Context& c, const Var& x) {
    const Var poison = {MakeTensor<double>({4}, {kNaN, 1, 2, kInfinity}, DType::kF64)};
    return Where(c, {condition}, x, poison);
  };
  TestEnvironment environment(kReferenceF64);
  const Pass pass = RunPass(environment, choose, Numbers({4}, 3));
  for (const double value : Values(pass.output)) CHECK(std::isfinite(value));
  const std::vector<double> gradient = Values(pass.input_gradient);
  CHECK(gradient[1] == 0);
  CHECK(gradient[2] == 0);
  CHECK(gradient[3] == Value(RandomTensor({4}, 99, DType::kF64), 3));
}

TEST_CASE("a constant has the type of activations and no gradient", "[ops]") {
  for (const EnvironmentKind& kind : {kReferenceF64, kOneDnnF32, kOneDnnBf16}) {
    TestEnvironment environment(kind);
    Tape tape;
    const TapeScope scope(environment.context(), &tape);
    const Var x = Constant(environment.context(), {2, 3}, 0.5);
    CHECK(x.dtype() == kind.dtype);
    CHECK_FALSE(x.needs_gradient());
    CHECK(Values(x.value) == std::vector<double>(6, 0.5));
    CHECK(tape.node_count() == 0);
  }
}

TEST_CASE("comparisons have no gradient", "[ops]") {
  TestEnvironment environment(kReferenceF64);
  Tape tape;
  const TapeScope scope(environment.context(), &tape);
  const Var x = {MakeTensor<double>({3}, {1, kNaN, -1}, DType::kF64), tape.NewSlot()};
  const Var zero = Constant(environment.context(), {1}, 0);
  const Var greater = Greater(environment.context(), x, zero);
  CHECK(Values(greater.value) == std::vector<double>{1, 0, 0});
  CHECK_FALSE(greater.needs_gradient());
}

TEST_CASE("what does not fit a choice or a clamp is refused", "[ops]") {
  TestEnvironment environment(kReferenceF64);
  Context& context = environment.context();
  const Var x = {Numbers({3, 4}, 1)};
  CHECK(RefusalOf([&] { Clamp(context, x, 1, 0); }) ==
        "[clamp] the lower bound is not above the upper one; 1.000000 and 0.000000; give the lower "
        "bound first");
  CHECK_THROWS_AS(Where(context, {Numbers({2, 4}, 1)}, x, x), ShapeError);
  CHECK_THROWS_AS(Clamp(context, x, kNaN, 0), UsageError);
}

}  // namespace
}  // namespace frugal::testing
