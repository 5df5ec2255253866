#pragma once

#include <ostream>
#include <string>

#include "builders/run/model.h"

namespace frugal {

struct TextGenerationOptions {
  std::string prompt = "\n";
  std::int64_t count = 500;  // bytes to add
  double temperature = 0.8;  // 0 = always the likeliest byte
  std::int64_t top_k = 40;   // only among so many likeliest; 0 = among all
  std::uint64_t seed = 0;
};

// Continues the prompt byte by byte by a model of a byte-level text. Each byte goes to `out` as it
// comes, if there is one, control characters as '?'; where `out` takes no more, since its reader is
// gone, the text ends. Returns prompt and continuation. Throws UsageError where the model is no
// such model or an option is out of range.
std::string GenerateText(Model& model, const TextGenerationOptions& options,
                         std::ostream* out = nullptr);

// A model of the configuration's network, over text of `window` bytes, with weights from a file:
// for generating, where the text that it was trained on need not be there.
Model LoadTextModel(const RunConfig& config, const std::string& weights, std::int64_t window);

}  // namespace frugal
