// Trains a byte-level GPT on two devices as its TOML file says: prints the plan of each device and
// the chart of the pipeline, and at the end the last step as it ran and the measured bytes.
#include "builders/frugal.h"
#include "samples/arguments.h"

int main(int count, char** arguments) {
  return frugal::RunProgram([&] {
    const auto [file, overrides, resume] =
        frugal::ReadArguments(count, arguments, FRUGAL_SAMPLE_DIR "/pipeline.toml");
    frugal::RunTraining(frugal::AiModelBuilder::FromToml(file, overrides).Plan(),
                        {.resume = resume, .keep = {file}});
  });
}
