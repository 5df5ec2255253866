#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

// Every layer passes these tests.
namespace frugal::testing {
namespace {

Function Runner(Layer& layer) {
  return [&](Context& context, const Var& x) { return layer(context, x); };
}

TEST_CASE("layers have the shapes and parameter counts they say", "[layers]") {
  for (const LayerCase& one : LayerCases()) {
    for (const EnvironmentKind& kind : AllEnvironments()) {
      INFO(one.name << " on " << kind);
      const auto layer = Ready(one.make());
      CHECK(layer->ParameterCount() == one.parameters);
      CHECK_FALSE(layer->Describe().empty());
      TestEnvironment environment(kind);
      const Pass pass =
          RunPass(environment, Runner(*layer), RandomTensor(one.input, 5, kind.dtype));
      CHECK(pass.output_shape == one.output);
      REQUIRE(pass.input_gradient);
      CHECK(pass.input_gradient.shape() == one.input);
      for (const Parameter* parameter : layer->Parameters()) {
        if (parameter->trainable) CHECK(environment.store().Gradient(*parameter));
      }
    }
  }
}

TEST_CASE("layers agree across backends", "[layers]") {
  for (const LayerCase& one : LayerCases()) {
    INFO(one.name);
    const auto layer = Ready(one.make());
    TestEnvironment reference(kReferenceF64);
    const Tensor input = RandomTensor(one.input, 5, DType::kF64);
    const Pass expected = RunPass(reference, Runner(*layer), input);
    for (const EnvironmentKind& kind : {kReferenceF32, kOneDnnF32}) {
      INFO(kind);
      TestEnvironment environment(kind);
      const Pass pass =
          RunPass(environment, Runner(*layer), RandomTensor(one.input, 5, kind.dtype));
      CHECK(RelativeError(pass.output, expected.output) < 1e-5);
      CHECK(RelativeError(pass.input_gradient, expected.input_gradient) < 1e-4);
    }
  }
}

TEST_CASE("gradients of layers agree with differences", "[layers][gradients]") {
  for (const LayerCase& one : LayerCases()) {
    INFO(one.name);
    const auto layer = Ready(one.make());
    TestEnvironment environment(kReferenceF64);
    std::vector<OutsideLeaf> leaves;
    for (const Parameter* parameter : layer->Parameters()) {
      if (parameter->trainable) leaves.push_back(LeafOf(environment, *parameter));
    }
    const auto function = [&](Context& context, const std::vector<Var>& x) {
      return (*layer)(context, x[0]);
    };
    const Tensor input = RandomTensor(one.input, 5, DType::kF64);
    // Small steps: the networks bend at every relu and every maximum.
    for (const double error :
         FiniteDifferenceErrors(environment.context(), function, {input}, leaves, 1e-6)) {
      CHECK(error < 1e-5);
    }
  }
}

TEST_CASE("every layer runs the same twice, to the bit", "[layers]") {
  for (const LayerCase& one : LayerCases()) {
    for (const EnvironmentKind& kind : AllEnvironments()) {
      INFO(one.name << " on " << kind);
      const Tensor input = RandomTensor(one.input, 5, kind.dtype);
      const auto layer = Ready(one.make());
      TestEnvironment first(kind);
      TestEnvironment second(kind);
      const Pass a = RunPass(first, Runner(*layer), input);
      const Pass b = RunPass(second, Runner(*layer), input);
      CHECK(SameBits(a.output, b.output));
      CHECK(SameBits(a.input_gradient, b.input_gradient));
      CHECK(SameBits(GradientsOf(first, *layer), GradientsOf(second, *layer)));
    }
  }
}

TEST_CASE("layers run in evaluation mode and keep nothing", "[layers]") {
  for (const LayerCase& one : LayerCases()) {
    for (const EnvironmentKind& kind : AllEnvironments()) {
      INFO(one.name << " on " << kind);
      const auto layer = Ready(one.make());
      TestEnvironment environment(kind);
      environment.context().set_training(false);
      {
        const Tensor input = RandomTensor(one.input, 5, kind.dtype);
        const Var output = (*layer)(environment.context(), {input});
        CHECK(output.shape() == one.output);
        CHECK_FALSE(output.needs_gradient());
      }
      CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
      CHECK(environment.ledger().live()[MemoryTag::kGradient] == 0);
    }
  }
}

TEST_CASE("layers take a batch of one and of none, or say why not", "[layers][edges]") {
  for (const LayerCase& one : LayerCases()) {
    for (const EnvironmentKind& kind : AllEnvironments()) {
      for (const std::int64_t batch : {1, 0}) {
        INFO(one.name << " on " << kind << ", batch " << batch);
        Shape shape = one.input;
        shape[0] = batch;
        const auto layer = Ready(one.make());
        TestEnvironment environment(kind);
        try {
          const Pass pass =
              RunPass(environment, Runner(*layer), RandomTensor(shape, 5, kind.dtype));
          CHECK(pass.output_shape[0] == batch);
        } catch (const ShapeError& error) {
          CHECK(std::string(error.what()).starts_with("[net"));
        }
      }
    }
  }
}

TEST_CASE("layers over values refuse token numbers", "[layers][errors]") {
  for (const LayerCase& one : LayerCases()) {
    INFO(one.name);
    const auto layer = Ready(one.make());
    TestEnvironment environment(kReferenceF64);
    try {
      RunPass(environment, Runner(*layer), Full(one.input, 1, DType::kI64));
      FAIL("accepted");
    } catch (const ShapeError& error) {
      const std::string text = error.what();
      CHECK(text.starts_with("[net"));
      CHECK(text.find("] the layer takes values; the input is token numbers " +
                      ToString(one.input)) != std::string::npos);
    }
    CHECK(environment.ledger().live_total() == 0);
  }
}

TEST_CASE("a frozen parameter leaves its neighbour trainable", "[layers]") {
  for (const LayerCase& one : LayerCases()) {
    if (one.name == "residual" || one.name == "network" || one.parameters == 0) continue;
    for (const EnvironmentKind& kind : AllEnvironments()) {
      for (const std::size_t frozen : {0U, 1U}) {
        INFO(one.name << " on " << kind << ", frozen " << frozen);
        const auto layer = Ready(one.make());
        const auto parameters = layer->Parameters();
        if (parameters.size() < 2 || parameters[1]->is_buffer) continue;
        TestEnvironment all(kind);
        TestEnvironment part(kind);
        const Tensor input = RandomTensor(one.input, 5, kind.dtype);
        RunPass(all, Runner(*layer), input);
        parameters[frozen]->trainable = false;
        RunPass(part, Runner(*layer), input);
        CHECK_FALSE(part.store().Gradient(*parameters[frozen]));
        const Tensor gradient = part.store().Gradient(*parameters[1 - frozen]);
        REQUIRE(gradient);
        CHECK(RelativeError(gradient, all.store().Gradient(*parameters[1 - frozen])) < 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace frugal::testing
