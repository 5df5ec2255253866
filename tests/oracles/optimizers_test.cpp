#include <nlohmann/json.hpp>

#include "sdk/io/open_weights.h"
#include "sdk/optim/optimizer.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"
#include "tests/support/test_world.h"

namespace frugal::test {
namespace {

const std::string kFile = std::string(FRUGAL_TEST_DATA) + "/oracles/optimizers.safetensors";
constexpr std::size_t kSteps = 12;
constexpr std::size_t kElements = 35;

std::vector<double> ReadAll(const WeightSource& source, const std::string& name) {
  std::vector<double> values(static_cast<std::size_t>(source.Find(name)->shape.ElementCount()));
  source.ReadAsF64(name, values);
  return values;
}

std::vector<double> StepOf(const std::vector<double>& all, std::size_t step) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(step * kElements);
  return {begin, begin + kElements};
}

OptimizerOptions OptionsOf(const WeightSource& source, const std::string& kind) {
  const auto json = nlohmann::json::parse(source.Metadata().at("options")).at(kind);
  OptimizerOptions options;
  options.kind = kind == "adam"    ? OptimizerKind::kAdam
                 : kind == "adamw" ? OptimizerKind::kAdamW
                                   : OptimizerKind::kSgd;
  options.lr = json.value("lr", options.lr);
  options.momentum = json.value("momentum", 0.0);
  options.nesterov = json.value("nesterov", false);
  options.weight_decay = json.value("weight_decay", 0.0);
  if (json.contains("betas")) {
    options.beta1 = json["betas"][0];
    options.beta2 = json["betas"][1];
  }
  return options;
}

void CheckOptimizer(const WorldKind& world_kind, const std::string& kind) {
  const auto source = OpenWeights(kFile);
  TestWorld world(world_kind);
  Parameter parameter;
  parameter.path = "p";
  parameter.shape = {7, 5};
  Parameter* const parameters[] = {&parameter};
  ElementwiseKernels& copy = world.backend().elementwise();
  copy.Copy(MakeTensor(parameter.shape, ReadAll(*source, "start"), world.dtype()),
            world.store().Value(parameter));
  const Optimizer optimizer(OptionsOf(*source, kind), {}, 0, kSteps);
  const std::vector<double> gradients = ReadAll(*source, "gradients");
  const std::vector<double> after = ReadAll(*source, "after/" + kind);
  for (std::size_t step = 0; step < kSteps; ++step) {
    INFO(kind << " on " << world_kind << ", step " << step);
    world.context().set_step(static_cast<std::int64_t>(step));
    copy.Copy(MakeTensor(parameter.shape, StepOf(gradients, step), world.dtype()),
              world.store().GradientFor(parameter).tensor);
    optimizer.Step(world.context(), parameters);
    CHECK(RelativeError(world.store().Value(parameter), StepOf(after, step)) <
          (world.dtype() == DType::kF64 ? 1e-6 : 1e-5));
  }
}

TEST_CASE("optimizers agree with PyTorch step by step", "[oracles][optim]") {
  for (const WorldKind& kind : AllWorlds()) {
    for (const char* name : {"sgd", "sgd_momentum", "sgd_nesterov", "adam", "adamw"}) {
      CheckOptimizer(kind, name);
    }
  }
}

}  // namespace
}  // namespace frugal::test
