#pragma once

#include <string>
#include <vector>

#include "builders/model.h"

namespace frugal {

// Makes sure, before a training, that what [output] names can be written after it: a mistyped path
// must not cost the training. Creates missing directories. Throws one ConfigError with everything
// that is wrong, such as two outputs in one file, or one that would replace a file of `keep` or of
// the data.
void PrepareOutputs(const RunConfig& config, const std::vector<std::string>& keep = {});

// Writes what [output] names: weights, report, summary. Where one of them fails the others are
// still written, and one Error lists what failed. Returns the paths that were written.
std::vector<std::string> WriteOutputs(Model& model, const TrainingResult& result);

}  // namespace frugal
