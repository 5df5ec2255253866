// The architectures against PyTorch: output, loss, every gradient, a whole training run, and the
// sizes of the published models.
#include <algorithm>

#include "builders/config/architecture_reader.h"
#include "presets/config/toml_reader.h"
#include "tests/catch.h"
#include "tests/oracles/model_case.h"
#include "tests/oracles/training_case.h"

namespace frugal::oracles {
namespace {

const std::string kOracles = std::string(FRUGAL_TEST_DATA) + "/oracles";

bool TakesTime(const ModelCase& one) {
  return std::ranges::find(one.inputs, "t") != one.inputs.end();
}

TEST_CASE("architectures compute what PyTorch does, with every gradient", "[oracles]") {
  const std::vector<std::string> directories = ModelCaseDirectories(kOracles + "/models");
  REQUIRE(directories.size() >= 26);
  for (const std::string& directory : directories) {
    const ModelCase one = ReadModelCase(directory);
    for (const testing::EnvironmentKind& kind : testing::AllEnvironments()) {
      for (const auto& [name, error] : ModelErrors(one, kind)) {
        INFO(one.name << " on " << kind << ": " << name);
        // In f64 what is left is the rounding of the file: of large times in sines above all, and
        // what norms of a few numbers and batch statistics make of it.
        const bool exact = kind.dtype == DType::kF64 && !TakesTime(one);
        const bool forward = name == "output" || name == "loss";
        CHECK(error < (forward ? (exact ? 1e-6 : 1e-5) : (exact ? 2e-5 : 1e-4)));
      }
    }
  }
}

TEST_CASE("a training run follows PyTorch's, step by step", "[oracles]") {
  for (const testing::EnvironmentKind& kind : testing::AllEnvironments()) {
    INFO(kind);
    const TrainingErrors errors = TrainCase(kOracles + "/train/gpt2_adamw", kind);
    REQUIRE(errors.losses.size() == 30);
    CHECK(errors.WorstLoss() < 1e-6);
    CHECK(errors.WorstNorm() < 1e-5);
    CHECK(errors.all_weights < 1e-4);
    CHECK(errors.worst_weight < 1e-3);
  }
}

TEST_CASE("a run names any option of its optimizer, and need not clip", "[oracles]") {
  for (const testing::EnvironmentKind& kind : testing::AllEnvironments()) {
    INFO(kind);
    const TrainingErrors errors = TrainCase(kOracles + "/more_train/llama_sgd", kind);
    REQUIRE(errors.losses.size() == 10);
    CHECK(errors.WorstLoss() < 1e-6);
    CHECK(errors.WorstNorm() < 1e-5);
    CHECK(errors.all_weights < 1e-5);
  }
}

TEST_CASE("with narrow optimizer state the run stays within 1% of PyTorch's losses", "[oracles]") {
  for (const testing::EnvironmentKind& kind : {testing::kReferenceF32, testing::kOneDnnF32}) {
    for (const StateFormat state : {StateFormat::kBF16, StateFormat::k8Bit}) {
      INFO(kind << " " << NameOf(state));
      const TrainingErrors errors = TrainCase(kOracles + "/train/gpt2_adamw", kind, state);
      CHECK(errors.WorstLoss() < 0.01);
      CHECK(errors.WorstLoss() > 0);
      CHECK(errors.all_weights < 0.02);
    }
  }
}

TEST_CASE("published models have exactly their number of parameters", "[oracles]") {
  const ConfigNode root = ParseTomlFile(kOracles + "/parameter_counts.toml");
  int counted = 0;
  for (const ConfigNode& row : root.Find("model")->children) {
    Origins origins;
    Diagnostics diagnostics;
    const auto config = ReadArchitecture(row, origins, diagnostics);
    diagnostics.ThrowIfAny();
    const auto& name = std::get<std::string>(row.Find("name")->value);
    INFO(name);
    const std::int64_t expected = std::get<std::int64_t>(row.Find("parameters")->value);
    CHECK(BuildArchitecture(*config)->ParameterCount() == expected);
    CHECK(BuildArchitecture(ArchitectureNamed(name))->ParameterCount() == expected);
    ++counted;
  }
  CHECK(counted == 24);
}

}  // namespace
}  // namespace frugal::oracles
