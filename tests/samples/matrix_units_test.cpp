// These tests read what oneDNN says that it ran (ONEDNN_VERBOSE=1) while a small GPT trained in
// bf16.
#include <sstream>

#include "tests/backend/onednn/bf16_support.h"
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

struct Products {
  int forward = 0, data = 0, copies = 0;
};

// Returns how many products and copies oneDNN ran in three steps of training with `batch` sequences
// of 64 tokens each.
Products RunByOneDnn(int batch) {
  const TempDir directory;
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "line " + std::to_string(i * 7919 % 1009) + "\n";
  directory.Write("text.txt", text);
  directory.Write("gpt.toml", kConfig);
  const ProgramRun run =
      Run(directory, "ONEDNN_VERBOSE=1 " + Program("frugal") + " train gpt.toml --quiet --set " +
                         "training.batch_size=" + std::to_string(batch));
  REQUIRE(run.exit_code == 0);
  Products products;
  for (const std::string& line : Executed(run.output)) {
    CAPTURE(line);
    const bool forward = Has(line, ",matmul,");
    const bool data = Has(line, ",inner_product,") && Has(line, "backward_data");
    if (forward || data) CHECK(Has(line, "amx_bf16"));
    products.forward += forward;
    products.data += data;
    products.copies += Has(line, ",reorder,");
  }
  return products;
}

}  // namespace

// Per step: 4 forward and 4 data gradients in each of 2 blocks, and those of the vocabulary. Of few
// rows oneDNN may want one of the weights in another order.
TEST_CASE("bf16 products of few rows run on the matrix units by oneDNN", "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  const Products products = RunByOneDnn(1);
  CHECK(products.forward >= 3 * (2 * 4 + 1));
  CHECK(products.data >= 3 * (2 * 4 + 1));
}

// Weights are packed by our own kernel, behind their updates.
TEST_CASE("bf16 products of many rows are our own kernels', and oneDNN copies no weight",
          "[needs-tiles]") {
  FRUGAL_NEEDS_TILES();
  const Products products = RunByOneDnn(8);
  CHECK(products.forward == 0);
  CHECK(products.data <= 3 * 2);  // the vocabulary's, of 256 rows at a time
  CHECK(products.copies == 0);
}

}  // namespace frugal::testing
