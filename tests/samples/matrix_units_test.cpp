// What oneDNN says that it ran (ONEDNN_VERBOSE=1) while a small GPT trained in bf16.
#include <sstream>

#include "sdk/backend/onednn/simd/cpu_features.h"
#include "tests/catch.h"
#include "tests/samples/run_program.h"

namespace frugal::testing {
namespace {

constexpr const char* kConfig = R"(
[model]
family = "gpt2"
[model.config]
vocab_size = 256
n_positions = 64
n_embd = 128
n_layer = 2
n_head = 2
[data]
text_file = "text.txt"
sequence_length = 64
test_fraction = 0.1
[optimizer]
kind = "adamw"
lr = 1e-3
[training]
precision = "bf16"
batch_size = 8
max_steps = 3
evaluate = false
)";

// The lines about primitives that were executed.
std::vector<std::string> Executed(const std::string& output) {
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("_verbose,exec,") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

bool Has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

TEST_CASE("bf16 products run on the matrix units, and oneDNN copies no weight") {
  if (!simd::HasAmxBf16()) {
    WARN("this processor has no matrix units for bf16");
    return;
  }
  const TempDir directory;
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "line " + std::to_string(i * 7919 % 1009) + "\n";
  directory.Write("text.txt", text);
  directory.Write("gpt.toml", kConfig);
  const ProgramRun run =
      Run(directory, "ONEDNN_VERBOSE=1 " + Program("frugal") + " train gpt.toml --quiet");
  REQUIRE(run.exit_code == 0);
  int products = 0, copies = 0;
  for (const std::string& line : Executed(run.output)) {
    CAPTURE(line);
    const bool data_gradient = Has(line, ",inner_product,") && Has(line, "backward_data");
    if (Has(line, ",matmul,") || data_gradient) {
      CHECK(Has(line, "amx_bf16"));
      ++products;
    }
    if (Has(line, ",reorder,")) ++copies;
  }
  // Per step: 4 forward and 4 data gradients in each of 2 blocks, and those of the vocabulary.
  CHECK(products >= 3 * (2 * 8 + 2));
  // Weights are packed by our own kernel, behind their updates: oneDNN copies none.
  CHECK(copies == 0);
}

}  // namespace
}  // namespace frugal::testing
