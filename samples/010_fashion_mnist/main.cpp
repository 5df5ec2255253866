// Trains what a configuration file says: this sample's own, or the one that is named.

#include "builders/frugal.h"
#include "samples/arguments.h"

int main(int count, char** arguments) {
  return frugal::RunProgram([&] {
    const auto [file, overrides, resume] =
        frugal::ReadArguments(count, arguments, FRUGAL_SAMPLE_DIR "/fashion_mnist.toml");
    frugal::RunTraining(frugal::AiModelBuilder::FromToml(file, overrides).Plan(),
                        {.resume = resume, .keep = {file}});
  });
}
