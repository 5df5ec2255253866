#include <filesystem>

#include "tests/catch.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;

// Reads every tensor of every file that another program (safetensors for Python) has written.
TEST_CASE("all oracle files open and can be read whole", "[io][oracles]") {
  const fs::path directory = fs::path(FRUGAL_TEST_DATA) / "oracles";
  REQUIRE(fs::is_directory(directory));
  int files = 0;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    if (item.path().extension() != ".safetensors") continue;
    INFO(item.path());
    const auto source = OpenWeights(item.path().string(), WeightsFileFormat::kSafetensors);
    CHECK(!source->Entries().empty());
    for (const StoredTensor& tensor : source->Entries()) {
      CHECK(std::ssize(ReadBytes(*source, tensor.name)) == ByteCount(tensor));
    }
    ++files;
  }
  CHECK(files > 0);
}

TEST_CASE("the oracle of relu says what relu is", "[io][oracles]") {
  const auto source = OpenWeights(std::string(FRUGAL_TEST_DATA) + "/oracles/ops/relu.safetensors");
  REQUIRE(source->Find("0/out") != nullptr);
  const auto count = static_cast<std::size_t>(source->Find("0/out")->shape.ElementCount());
  std::vector<float> input(count), output(count);
  source->ReadAsF32("0/in/input", input);
  source->ReadAsF32("0/out", output);
  for (std::size_t at = 0; at < count; ++at) CHECK(output[at] == std::max(input[at], 0.0f));
}

}  // namespace
}  // namespace frugal::testing
