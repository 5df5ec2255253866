#include "builders/inference/text_generation.h"

#include <cmath>

#include "builders/plan/planner.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void RefuseText(const std::string& required, const std::string& given,
                             const std::string& advice) {
  throw UsageError(
      {.where = "GenerateText", .required = required, .given = given, .advice = advice});
}

// Control characters, which an untrained model writes too, would confuse a terminal.
char ForTerminal(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return (code < 32 && byte != '\n' && byte != '\t') || code == 127 ? '?' : byte;
}

void Check(const Model& model, const TextGenerationOptions& options) {
  if (model.layout().vocabulary != kByteValues) {
    RefuseText("a model over the 256 bytes of a text",
               "it takes " + std::to_string(model.layout().vocabulary) + " tokens",
               "train one on data.text_file");
  }
  const std::int64_t outputs = model.plan().layers.back().output.back();
  if (outputs != kByteValues) {
    RefuseText("a network that ends in one output for each of the 256 bytes",
               "it ends in " + std::to_string(outputs), "train one with vocab_size = 256");
  }
  if (options.prompt.empty()) RefuseText("a prompt", "it is empty", "begin with a line break");
  if (options.count < 0) {
    RefuseText("count is at least 0", std::to_string(options.count), "say how many bytes to add");
  }
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature)) {
    RefuseText("a finite temperature of at least 0", std::to_string(options.temperature),
               "try 0.8");
  }
  if (options.top_k < 0) {
    RefuseText("top_k is at least 0", std::to_string(options.top_k), "0 draws among all bytes");
  }
}

}  // namespace

std::string GenerateText(Model& model, const TextGenerationOptions& options, std::ostream* out) {
  Check(model, options);
  std::vector<std::int64_t> prompt;
  for (const char byte : options.prompt) prompt.push_back(static_cast<unsigned char>(byte));
  std::string text = options.prompt;
  if (out != nullptr) *out << text << std::flush;
  model.Generate(prompt, {.count = options.count,
                          .sampling = {.temperature = options.temperature,
                                       .top_k = options.top_k,
                                       .seed = options.seed},
                          .window = model.layout().sample_shape[0],
                          .on_token =
                              [&](std::int64_t token) {
                                text += static_cast<char>(token);
                                if (out != nullptr) *out << ForTerminal(text.back()) << std::flush;
                              },
                          .stop = [&] { return out != nullptr && !*out; }});
  return text;
}

Model LoadTextModel(const RunConfig& config, const std::string& weights, std::int64_t window) {
  RunConfig use = ForInference(config);
  use.training.metrics.clear();
  use.model.allow_missing = config.model.allow_missing;
  use.memory.default_initialization_strategy = InitializationStrategy::kFromFile;
  use.memory.weights_file_path = weights;
  const DataLayout layout = {.sample_shape = {window},
                             .classes = kByteValues,
                             .target_shape = {},
                             .vocabulary = kByteValues,
                             .label_shape = {window}};
  return Model(PlanInference(use, layout, {.batch = 1}));
}

}  // namespace frugal
