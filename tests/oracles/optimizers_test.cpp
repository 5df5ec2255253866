#include "sdk/io/weights/open_weights.h"
#include "tests/catch.h"
#include "tests/oracles/optimizer_case.h"

namespace frugal::oracles {
namespace {

TEST_CASE("an optimizer that names no rate has PyTorch's", "[oracles][optim]") {
  CHECK(PyTorchDefaults(OptimizerKind::kAdadelta).lr == 1);
  CHECK(PyTorchDefaults(OptimizerKind::kNAdam).lr == 2e-3);
  CHECK(PyTorchDefaults(OptimizerKind::kAdamW).weight_decay == 0.01);
  CHECK(PyTorchDefaults(OptimizerKind::kAdam).weight_decay == 0);
}

TEST_CASE("optimizers agree with PyTorch step by step", "[oracles][optim]") {
  const auto source =
      OpenWeights(std::string(FRUGAL_TEST_DATA) + "/oracles/optimizers.safetensors");
  const std::vector<std::string> names = OptimizerNames(*source);
  CHECK(names.size() == 11);
  for (const testing::EnvironmentKind& kind : testing::AllEnvironments()) {
    for (const std::string& name : names) {
      INFO(name << " on " << kind);
      testing::TestEnvironment environment(kind);
      const std::vector<double> errors = OptimizerErrors(environment, *source, name);
      REQUIRE(errors.size() == 12);
      for (const double error : errors) CHECK(error < (kind.dtype == DType::kF64 ? 1e-6 : 1e-5));
    }
  }
}

}  // namespace
}  // namespace frugal::oracles
