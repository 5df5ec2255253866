// Trains a diffusion transformer to draw clothes, as its TOML file says, or lets a trained one
// draw:
//   [FILE.toml] [--set section.key=value ...]
//   sample --from weights.safetensors [--out FILE.png] [--seed N] [FILE.toml] [--set ...]
#include <charconv>
#include <optional>

#include "builders/plan/planner.h"
#include "samples/050_diffusion/clothes.h"
#include "samples/arguments.h"

namespace frugal::clothes {
namespace {

constexpr const char* kDirectory = "build/diffusion";

// Takes "--name VALUE" out of the arguments.
std::optional<std::string> Take(std::vector<char*>& arguments, const std::string& name) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (arguments[i] != name) continue;
    std::string value = arguments[i + 1];
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i),
                    arguments.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    return value;
  }
  return std::nullopt;
}

std::uint64_t SeedIn(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return seed;
  throw UsageError({.where = "command line",
                    .required = "--seed takes a number from 0 on",
                    .given = "'" + text + "'",
                    .advice = "e.g. --seed 1"});
}

void DrawFrom(std::vector<char*> arguments) {
  const std::optional<std::string> weights = Take(arguments, "--from");
  const std::string path =
      Take(arguments, "--out").value_or(std::string(kDirectory) + "/samples.png");
  const std::uint64_t seed = SeedIn(Take(arguments, "--seed").value_or("0"));
  const SampleArguments given = ReadArguments(static_cast<int>(arguments.size()), arguments.data(),
                                              FRUGAL_SAMPLE_DIR "/diffusion.toml");
  if (!weights) {
    throw UsageError({.where = "command line",
                      .required = "sample --from weights.safetensors",
                      .given = "no --from",
                      .advice = "name the weights that a training wrote"});
  }
  if (const auto directory = std::filesystem::path(path).parent_path(); !directory.empty()) {
    std::filesystem::create_directories(directory);
  }
  Model model(PlanTraining(WithoutWeightsFile(ReadRunConfig(given.file, given.overrides))));
  model.LoadWeights(*weights);
  WriteSamples(model, path, seed);
}

}  // namespace
}  // namespace frugal::clothes

int main(int count, char** arguments) {
  using namespace frugal;
  return RunProgram([&] {
    std::vector<char*> words(arguments, arguments + count);
    if (count > 1 && words[1] == std::string("sample")) {
      words.erase(words.begin() + 1);
      return clothes::DrawFrom(words);
    }
    const auto [file, overrides, resume] =
        ReadArguments(count, arguments, FRUGAL_SAMPLE_DIR "/diffusion.toml");
    clothes::TrainAndDraw(AiModelBuilder::FromToml(file, overrides).Plan(), clothes::kDirectory,
                          {file}, resume);
  });
}
