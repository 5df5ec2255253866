#pragma once

#include <string>
#include <vector>

#include "sdk/optim/optimizer_options.h"
#include "tests/support/test_environment.h"

// A whole training run that PyTorch has computed: see tests/oracles/README.md.
namespace frugal::oracles {

struct TrainingErrors {
  std::vector<double> losses;          // of each step, relative
  std::vector<double> gradient_norms;  // before clipping
  double all_weights = 0;              // after the last step, all parameters as one vector
  double worst_weight = 0;             // and the worst parameter by itself
  std::string worst_name;

  double WorstLoss() const;
  double WorstNorm() const;
};

// Runs `directory`/case.toml: a language model on the tokens of the file. Throws DataError or
// ConfigError where the files are not of that form.
TrainingErrors TrainCase(const std::string& directory, const testing::EnvironmentKind& kind,
                         StateFormat state = StateFormat::kF32);

}  // namespace frugal::oracles
