// The README says what the code does.
#include <fstream>
#include <sstream>

#include "builders/config/run_config_reader.h"
#include "presets/config/reference_text.h"
#include "presets/memory_fields.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

std::string Readme() {
  std::ifstream in(std::string(FRUGAL_SOURCE_DIR) + "/README.md");
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
  CHECK(Readme().find(ReferenceText(MemoryFields())) != std::string::npos);
}

TEST_CASE("the README's TOML is a valid configuration") {
  const std::string toml = BlockAfter(Readme(), "## Ten lines of TOML");
  REQUIRE(toml.find("[memory]") != std::string::npos);
  const RunConfig config = ReadRunConfigText(toml, "README.md");
  CHECK(config.model.layers.size() == 5);
}

}  // namespace
}  // namespace frugal::testing
