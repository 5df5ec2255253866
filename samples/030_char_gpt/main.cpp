// Trains a byte-level GPT as its TOML file says, then lets it write.
#include <iostream>

#include "builders/frugal.h"
#include "samples/030_char_gpt/write_sample.h"
#include "samples/arguments.h"

int main(int count, char** arguments) {
  return frugal::RunProgram([&] {
    const auto [file, overrides, resume] =
        frugal::ReadArguments(count, arguments, FRUGAL_SAMPLE_DIR "/char_gpt.toml");
    frugal::WriteSample(
        frugal::RunTraining(frugal::AiModelBuilder::FromToml(file, overrides).Plan(),
                            {.resume = resume, .keep = {file}})
            .model,
        "build/char_gpt/generated.txt");
  });
}
