#pragma once

#include <functional>
#include <memory>
#include <string>

#include "presets/config/field.h"
#include "sdk/core/own_options.h"
#include "sdk/core/shape.h"

namespace frugal {

class Sequential;

// A named architecture and its sizes, the struct of its family: [model] family and [model.config].
using ArchitectureConfig = OwnOptions;

// Describes what a network is trained on that does not say it itself (Sequential::inputs()): tokens
// or images.
struct NominalSamples {
  Shape sample;                 // [T] tokens, as many as it takes at most; [H, W, C]
  std::int64_t vocabulary = 0;  // of tokens
  std::int64_t classes = 0;     // of a label, one for each token of a sample; 0: no labels
};

// A family as files know it.
struct ArchitectureFamily {
  std::string name;             // "gpt2"
  ArchitectureConfig defaults;  // the family's struct with its default sizes
  FieldTable fields;            // of that struct
  // Makes the network of a struct of the family, without paths. Throws ConfigError for sizes that
  // do not fit.
  std::function<std::unique_ptr<Sequential>(const ArchitectureConfig& config)> make;
  // None where the network says it.
  std::function<NominalSamples(const ArchitectureConfig& config)> samples{};
};

}  // namespace frugal
