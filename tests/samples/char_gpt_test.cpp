// A text model trained from TOML and from C++ alike, and made to write.
#include <nlohmann/json.hpp>

#include "tests/samples/run_program.h"

namespace frugal::testing {
namespace {

std::string SmallText() {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "in the beginning was the word " + std::to_string(i % 7) + "\n";
  return text;
}

const std::string kSmall =
    " --set data.text_file=text.txt --set data.sequence_length=32 --set training.batch_size=8"
    " --set training.evaluation_batch_size=8 --set model.config.n_embd=32"
    " --set model.config.n_layer=2 --set output.summary=summary.json"
    " --set output.weights=weights.safetensors --set schedule.warmup_steps=4 ";

nlohmann::json SummaryOf(const TempDir& directory, const std::string& sample, int steps) {
  directory.Write("text.txt", SmallText());
  const ProgramRun run = Run(
      directory, Program(sample) + kSmall +
                     "--set training.epochs=9 --set training.max_steps=" + std::to_string(steps));
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  CheckContains(run.output, "bits per byte");
  CheckContains(run.output, "tokens/s");
  CheckContains(run.output, "It writes");
  return nlohmann::json::parse(ReadAll(directory.File("summary.json")));
}

TEST_CASE("the text sample and its C++ twin train the same model bit for bit") {
  const TempDir one;
  const TempDir two;
  const auto file = SummaryOf(one, "sample_030_char_gpt", 6);
  const auto twin = SummaryOf(two, "sample_030_char_gpt_twin", 6);
  CHECK(file.at("losses") == twin.at("losses"));
  CHECK(file.at("weights_hash") == twin.at("weights_hash"));
  CHECK(file.at("planned_bytes") == file.at("measured_bytes"));
}

TEST_CASE("what was trained is written the same way again from its weights") {
  const TempDir directory;
  SummaryOf(directory, "sample_030_char_gpt", 150);
  directory.Write(
      "model.toml",
      "[model]\nfamily = \"gpt2\"\n[model.config]\nvocab_size = 256\nn_positions = 128\n"
      "n_embd = 32\nn_layer = 2\nn_head = 4\n[data]\ntext_file = \"gone.txt\"\n"
      "sequence_length = 32\n");
  const std::string command = Program("frugal") +
                              " generate model.toml --weights weights.safetensors --temperature 0"
                              " --prompt \"in the \" --count ";
  const ProgramRun run = Run(directory, command + "40");
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  CheckContains(run.output, "in the beginning was the word");
  CHECK(Run(directory, command + "40").output == run.output);
  // Where its reader goes away it stops: the rest would take hours.
  const std::string gone =
      "timeout 60 " + command + "100000000 | head -c 10; echo \" ${PIPESTATUS[0]}\"";
  directory.Write("gone.sh", gone);
  CHECK(Run(directory, "bash gone.sh").output == "in the beg 0\n");
  CHECK(Run(directory, command + "10 --top-k -1").exit_code != 0);
  CHECK(Run(directory, Program("frugal") + " generate model.toml --weights gone.safetensors")
            .exit_code != 0);
}

}  // namespace
}  // namespace frugal::testing
