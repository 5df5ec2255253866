#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "builders/run/model.h"

namespace frugal::cli {

// "3 samples in 0.01 s; peak memory 1,234 bytes planned, 1,234 measured (1.2 KB)"
std::string InferenceText(const Model& model, std::int64_t samples, double seconds);

// Adds --set, which puts values on top of the configuration in a weight file.
void AddOverrides(CLI::App& command, std::vector<std::string>& overrides,
                  const std::string& example);

}  // namespace frugal::cli
