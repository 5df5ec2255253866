// The READMEs say what the code does.
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "builders/config/run_config_reader.h"
#include "presets/config/reference_text.h"
#include "presets/memory_fields.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

std::string Readme(const std::string& room = "") {
  std::ifstream in(FRUGAL_SOURCE_DIR "/" + room + "README.md");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The first indented block after `heading`, without its indentation.
std::string BlockAfter(const std::string& text, const std::string& heading) {
  std::istringstream lines(text.substr(text.find(heading) + heading.size()));
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) {
      block += line.substr(4) + "\n";
    } else if (!line.empty() && !block.empty()) {
      break;
    } else if (!block.empty()) {
      block += "\n";
    }
  }
  return block;
}

TEST_CASE("the README's table of memory fields is that of the code") {
  CHECK(Readme("presets/").find(ReferenceText(MemoryFields())) != std::string::npos);
}

TEST_CASE("the README's TOML is a valid configuration") {
  const std::string toml = BlockAfter(Readme(), "## Ten lines of TOML");
  REQUIRE(toml.find("[memory]") != std::string::npos);
  const RunConfig config = ReadRunConfigText(toml, "README.md");
  CHECK(config.model.layers.size() == 5);
}

// Relative to the room that the README is in, to the root, or to sdk, whose folders are named
// alone.
bool IsThere(const std::string& room, const std::string& path) {
  const std::filesystem::path root = FRUGAL_SOURCE_DIR;
  return exists(root / room / path) || exists(root / path) || exists(root / "sdk" / path);
}

TEST_CASE("links and paths in the READMEs lead to files that there are") {
  const std::regex link("\\]\\(([A-Za-z0-9_./-]+)\\)|`([a-z0-9_/]+/[a-z0-9_]+\\.(?:h|cpp|toml))`");
  for (const std::string room :
       {"", "sdk/", "sdk/ops/", "sdk/backend/", "layers/", "layers/architectures/", "presets/",
        "builders/", "samples/", "tests/", "tests/benchmarks/", "tests/oracles/"}) {
    const std::string text = Readme(room);
    INFO(room << "README.md");
    CHECK_FALSE(text.empty());
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const std::string path = (*at)[1].matched ? (*at)[1] : (*at)[2];
      INFO(path);
      CHECK(IsThere(room, path));
    }
  }
}

TEST_CASE("the front README is a front door") { CHECK(Readme().size() <= 10'000); }

}  // namespace
}  // namespace frugal::testing
