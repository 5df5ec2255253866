// The C++ twin of samples/010_fashion_mnist reaches bitwise the same losses as its TOML file.
#include <nlohmann/json.hpp>

#include "tests/samples/run_program.h"

namespace frugal::testing {
namespace {

nlohmann::json SummaryOf(const std::string& sample, const std::string& more) {
  const TempDir directory;
  const ProgramRun run =
      Run(directory, Program(sample) +
                         " --set output.summary=summary.json --set data.train_limit=600"
                         " --set data.test_limit=200 --set training.max_steps=6 " +
                         more);
  INFO(run.errors);
  REQUIRE(run.exit_code == 0);
  return nlohmann::json::parse(ReadAll(directory.File("summary.json")));
}

TEST_CASE("the TOML file and its C++ twin train the same model bit for bit") {
  // Two epochs of four steps begin, so order and dropout of a later epoch count too.
  const auto file = SummaryOf("sample_010_fashion_mnist", "");
  const auto twin = SummaryOf("sample_010_fashion_mnist_twin", "");
  REQUIRE(file.at("losses").size() == 6);
  CHECK(file.at("losses") == twin.at("losses"));
  CHECK(file.at("weights_hash") == twin.at("weights_hash"));
  CHECK(file.at("planned_bytes") == twin.at("planned_bytes"));
  CHECK(file.at("planned_bytes") == file.at("measured_bytes"));
  const auto other = SummaryOf("sample_010_fashion_mnist_twin", "--set training.seed=2");
  CHECK(file.at("losses") != other.at("losses"));
}

TEST_CASE("a sample explains what it takes") {
  const TempDir directory;
  const ProgramRun run = Run(directory, Program("sample_010_fashion_mnist") + " --epochs 3");
  CHECK(run.exit_code == 1);
  CheckContains(run.errors, "--set section.key=value");
}

}  // namespace
}  // namespace frugal::testing
