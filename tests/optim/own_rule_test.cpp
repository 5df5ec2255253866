// Update rules that a program registers run like ours: numbers, state, and what is wrong with them.
#include <cmath>

#include "sdk/core/error.h"
#include "sdk/optim/optimizer.h"
#include "sdk/optim/optimizer_registry.h"
#include "tests/catch.h"
#include "tests/support/own_parts.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

void RunNothing(Backend&, const OptimizerOptions&, const UpdateCall&) {}

// Returns a parameter's values behind some steps by a rule, whose gradient is sin(4 value + step).
std::vector<double> Trained(const OptimizerOptions& options, std::int64_t steps) {
  TestEnvironment environment({.dtype = DType::kF32});
  Parameter parameter;
  parameter.path = "p";
  parameter.shape = {2, 8};
  parameter.initializer = Initializer::Uniform(-1, 1);
  Parameter* list[] = {&parameter};
  const Optimizer optimizer(options, {}, 0.5, steps);
  ParameterStore& store = environment.store();
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<double> gradient;
    for (const double value : Values(store.Value(parameter))) {
      gradient.push_back(std::sin(4 * value + static_cast<double>(step)));
    }
    environment.backend().elementwise().Copy(MakeTensor({2, 8}, gradient, environment.dtype()),
                                             store.GradientFor(parameter).tensor);
    environment.context().set_step(step);
    optimizer.Step(environment.context(), list);
    store.ClearGradients();
  }
  return Values(store.Value(parameter));
}

// Returns them by the formulas of Lion's authors, in double precision.
std::vector<double> LionByFormula(std::vector<double> x, std::int64_t steps) {
  constexpr double kRate = 0.01, kBeta1 = 0.8, kBeta2 = 0.97, kDecay = 0.1, kClip = 0.5;
  std::vector<double> m(x.size(), 0), g(x.size());
  for (std::int64_t step = 0; step < steps; ++step) {
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      g[i] = std::sin(4 * x[i] + static_cast<double>(step));
      squares += g[i] * g[i];
    }
    const double scale = std::min(1.0, kClip / (std::sqrt(squares) + 1e-6));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double c = kBeta1 * m[i] + (1 - kBeta1) * scale * g[i];
      x[i] -= kRate * (std::copysign(1.0, c) + kDecay * x[i]);
      m[i] = kBeta2 * m[i] + (1 - kBeta2) * scale * g[i];
    }
  }
  return x;
}

TEST_CASE("a registered rule computes what its formulas say", "[own]") {
  RegisterOwnParts();
  const OptimizerOptions options{.kind = "lion",
                                 .lr = 0.01,
                                 .weight_decay = 0.1,
                                 .options = LionOptions{.beta1 = 0.8, .beta2 = 0.97}};
  const std::vector<double> start = Trained(options, 0);
  for (const std::int64_t steps : {1, 2, 40}) {
    const std::vector<double> expected = LionByFormula(start, steps);
    const std::vector<double> actual = Trained(options, steps);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK_THAT(actual[i], Catch::Matchers::WithinAbs(expected[i], 1e-4));
    }
  }
  OptimizerOptions defaults = options;
  defaults.options = {};
  CHECK(Trained(defaults, 40) != Trained(options, 40));
  defaults.options = LionOptions();
  OptimizerOptions none = options;
  none.options = {};
  CHECK(Trained(none, 40) == Trained(defaults, 40));
}

TEST_CASE("a registered rule over our kernels comes to our bits", "[own]") {
  static const bool registered = [] {
    OptimizerRule rule = FindOptimizer(OptimizerKind::kAdam);
    rule.name = "adam_again";
    Optimizers().Add(rule);
    return true;
  }();
  REQUIRE(registered);
  for (const StateFormat state : {StateFormat::kF32, StateFormat::kBF16}) {
    CHECK(Trained({.kind = "adam_again", .state = state}, 20) ==
          Trained({.kind = OptimizerKind::kAdam, .state = state}, 20));
  }
}

TEST_CASE("our rules are rows, one for each kind", "[own]") {
  const std::vector<std::string> names = Optimizers().Names();
  for (std::size_t i = 0; i < kOptimizerKindCount; ++i) {
    CHECK(names[i] == NameOf(static_cast<OptimizerKind>(i)));
    CHECK(FindOptimizer(names[i]).doc.ends_with('.'));
  }
  CHECK(OptimizerName("adamw") == OptimizerKind::kAdamW);
  CHECK(OptimizerName(std::string("sgd")) != OptimizerKind::kAdamW);
}

TEST_CASE("rules that cannot be used are refused in one sentence", "[own]") {
  RegisterOwnParts();
  const auto made = [](const OptimizerOptions& options) { Optimizer(options, {}, 0, 1); };
  CHECK_THROWS_WITH(made({.kind = "lino"}),
                    Contains("kind is one of sgd, adam, adamw") && Contains("\"lino\" is none"));
  static const bool registered = [] {
    Optimizers().Add({.name = "idle"});
    Optimizers().Add({.name = "greedy",
                      .states = [](const OptimizerOptions&) { return std::size_t{3}; },
                      .update = RunNothing});
    return true;
  }();
  REQUIRE(registered);
  CHECK_THROWS_WITH(made({.kind = "idle"}), Contains("optimizer idle") && Contains("`update`"));
  CHECK_THROWS_WITH(made({.kind = "greedy"}),
                    Contains("at most 2 state tensors") && Contains("it asks for 3"));
  CHECK_THROWS_WITH(Optimizers().Add({.name = "adamw", .update = RunNothing}),
                    Contains("there is one called \"adamw\" already"));
  CHECK_THROWS_WITH(RegisterOptimizer<LionOptions>({.name = "momentum", .update = RunNothing}, {}),
                    Contains("\"momentum\" is one of these keys"));
  CHECK_THROWS_AS(OwnOptionsOf<GainOptions>({.kind = "lion"}), UsageError);
}

}  // namespace
}  // namespace frugal::testing
