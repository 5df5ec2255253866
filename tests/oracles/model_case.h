#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "builders/config/types/architecture.h"
#include "sdk/io/weights/weight_source.h"
#include "tests/oracles/axis_order.h"
#include "tests/support/test_environment.h"

// Whole models that PyTorch has computed: see tests/oracles/README.md.
namespace frugal::oracles {

// Holds what case.toml says, and the files beside it.
struct ModelCase {
  std::string directory;
  std::string name;
  ArchitectureConfig config;
  std::int64_t parameters = 0;
  std::vector<std::string> inputs;
  bool training = false;  // batch statistics
  std::unique_ptr<WeightSource> weights;
  std::unique_ptr<WeightSource> expected;
};

// Throws DataError or ConfigError where the files are not of that form, or the family or one of its
// keys is not known here.
ModelCase ReadModelCase(const std::string& directory);

// The case directories in `directory`, in order of name; itself, where it is one.
std::vector<std::string> ModelCaseDirectories(const std::string& directory);

// Relative errors by name: "output", "loss", "grad/param/...", "grad/input/...", "buffer/...".
// Infinite for what only one side has. Throws DataError where the parameter counts differ.
std::map<std::string, double> ModelErrors(const ModelCase& one,
                                          const testing::EnvironmentKind& kind);

// How far the same errors go in f64 where nothing but the weights and the inputs are rounded to
// bf16, the largest of three ways to round: what a computation in bf16 cannot be blamed for.
std::map<std::string, double> RoundingErrors(const ModelCase& one);

}  // namespace frugal::oracles
