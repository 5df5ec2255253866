#include "sdk/optim/optimizer.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

// Two parameters, of which steps change the first, second or both.
struct Setup {
  explicit Setup(const EnvironmentKind& kind) : environment(kind) {
    for (std::size_t i = 0; i < 2; ++i) {
      parameters[i].path = "p" + std::to_string(i);
      parameters[i].shape = {3};
      parameters[i].initializer = Initializer::Constant(static_cast<double>(i + 1));
      parameters[i].index = i;
      list[i] = &parameters[i];
    }
  }
  void Give(std::size_t i, const std::vector<double>& gradient) {
    environment.backend().elementwise().Copy(MakeTensor({3}, gradient, environment.dtype()),
                                             environment.store().GradientFor(parameters[i]).tensor);
  }
  double Step(const Optimizer& optimizer) { return optimizer.Step(environment.context(), list); }
  std::vector<double> Value(std::size_t i) {
    return Values(environment.store().Value(parameters[i]));
  }

  TestEnvironment environment;
  Parameter parameters[2];
  Parameter* list[2];
};

OptimizerOptions PlainSgd(double lr) { return {.kind = OptimizerKind::kSgd, .lr = lr}; }

TEST_CASE("a step moves what got a gradient and is trainable, once", "[optim]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    Setup setup(kind);
    const Optimizer optimizer(PlainSgd(0.5), {}, 0, 10);
    setup.Give(0, {1, 2, 4});
    CHECK(setup.Step(optimizer) == 0);
    CHECK(setup.Value(0) == std::vector<double>{0.5, 0, -1});
    CHECK(setup.Value(1) == std::vector<double>{2, 2, 2});
    setup.environment.store().ClearGradients();
    setup.Step(optimizer);  // no gradient, no move
    CHECK(setup.Value(0) == std::vector<double>{0.5, 0, -1});
    setup.parameters[1].trainable = false;
    setup.Give(1, {1, 1, 1});
    setup.Step(optimizer);
    CHECK(setup.Value(1) == std::vector<double>{2, 2, 2});
  }
}

TEST_CASE("clipping scales all gradients by their common norm", "[optim]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    INFO(kind);
    Setup setup(kind);
    const Optimizer optimizer(PlainSgd(1), {}, 1, 10);
    setup.Give(0, {3, 0, 0});
    setup.Give(1, {0, 4, 0});
    CHECK(setup.Step(optimizer) == Approx(5));
    const double scale = 1 / (5 + 1e-6);
    CHECK(setup.Value(0)[0] == Approx(1 - 3 * scale));
    CHECK(setup.Value(1)[1] == Approx(2 - 4 * scale));
    CHECK(setup.Value(1)[0] == 2);

    setup.environment.store().ClearGradients();
    setup.Give(0, {0.3, 0, 0});  // below the bound: left as it is
    const double before = setup.Value(0)[0];
    CHECK(setup.Step(optimizer) == Approx(0.3));
    CHECK(setup.Value(0)[0] == Approx(before - 0.3));
  }
}

TEST_CASE("gradients of zero and no gradients at all can be clipped", "[optim]") {
  Setup setup(kReferenceF64);
  const Optimizer optimizer(PlainSgd(1), {}, 1, 10);
  CHECK(setup.Step(optimizer) == 0);
  setup.Give(0, {0, 0, 0});
  CHECK(setup.Step(optimizer) == 0);
  CHECK(setup.Value(0) == std::vector<double>{1, 1, 1});
}

TEST_CASE("the learning rate follows its schedule", "[optim]") {
  Setup setup(kReferenceF64);
  const ScheduleOptions schedule{.kind = ScheduleKind::kStep, .step_every = 2, .step_factor = 0.1};
  const Optimizer optimizer(PlainSgd(1), schedule, 0, 10);
  CHECK(optimizer.LearningRate(0) == 1);
  CHECK(optimizer.LearningRate(3) == Approx(0.1));
  setup.environment.context().set_step(3);
  setup.Give(0, {1, 1, 1});
  setup.Step(optimizer);
  CHECK(setup.Value(0)[0] == Approx(0.9));
}

TEST_CASE("weight decay may leave vectors out", "[optim]") {
  for (const bool vectors : {true, false}) {
    Setup setup(kReferenceF64);
    OptimizerOptions options = PlainSgd(1);
    options.weight_decay = 0.5;
    options.decay_vectors = vectors;
    setup.Give(0, {0, 0, 0});
    setup.Step(Optimizer(options, {}, 0, 10));
    CHECK(setup.Value(0)[0] == Approx(vectors ? 0.5 : 1));
  }
}

TEST_CASE("state is taken for what needs it and no more", "[optim][memory]") {
  struct Expected {
    OptimizerOptions options;
    std::size_t states;
  };
  const Expected all[] = {{PlainSgd(1), 0},
                          {{.kind = OptimizerKind::kSgd, .momentum = 0.9}, 1},
                          {{.kind = OptimizerKind::kAdam}, 2},
                          {{.kind = OptimizerKind::kAdamW}, 2}};
  for (const Expected& expected : all) {
    Setup setup(kReferenceF64);
    const Optimizer optimizer(expected.options, {}, 0, 10);
    CHECK(optimizer.StateCount() == expected.states);
    setup.Give(0, {1, 1, 1});
    setup.Step(optimizer);
    CHECK(setup.environment.ledger().live()[MemoryTag::kOptimizerState] ==
          64 * static_cast<std::int64_t>(expected.states));
  }
}

TEST_CASE("Adam's first step is the learning rate in the direction of the gradient", "[optim]") {
  for (const EnvironmentKind& kind : AllEnvironments()) {
    Setup setup(kind);
    const Optimizer optimizer({.kind = OptimizerKind::kAdam, .lr = 0.01}, {}, 0, 10);
    setup.Give(0, {5, -0.001, 0});
    setup.Step(optimizer);
    CHECK(setup.Value(0)[0] == Approx(0.99));
    CHECK(setup.Value(0)[1] == Approx(1.01));
    CHECK(setup.Value(0)[2] == 1);
  }
}

TEST_CASE("optimizers have names", "[optim]") {
  CHECK(NameOf(OptimizerKind::kSgd) == "sgd");
  CHECK(NameOf(OptimizerKind::kAdam) == "adam");
  CHECK(NameOf(OptimizerKind::kAdamW) == "adamw");
}

}  // namespace
}  // namespace frugal::testing
