#pragma once

#include <string>
#include <vector>

#include "builders/output_space.h"
#include "builders/run/model.h"

namespace frugal {

// Makes sure, before a training, that what [output] names can be written after it: a mistyped path
// must not cost the training. Creates missing directories, and removes partial files of processes
// that are gone. Throws one ConfigError with everything that is wrong, such as two outputs in one
// file, or one that would replace a file of `keep` or of the data.
void PrepareOutputs(const RunConfig& config, const std::vector<std::string>& keep = {});

// Makes sure, after PrepareOutputs, that the file systems have room for the outputs. Throws one
// ConfigError that names each file without room, what it takes and what is free. Space that others
// take during the training cannot be known, nor can quotas.
void CheckOutputSpace(const RunConfig& config, const OutputBytes& bytes);

// Writes what [output] names: weights, report, summary. Where one of them fails the others are
// still written, and one Error lists what failed. Returns the paths that were written.
std::vector<std::string> WriteOutputs(Model& model, const TrainingResult& result);

}  // namespace frugal
