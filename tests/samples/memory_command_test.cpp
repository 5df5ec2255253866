// `frugal memory`, `frugal memory diff` and `frugal train --memory-report` as their users see them.
#include <nlohmann/json.hpp>

#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

struct MemorySetup {
  explicit MemorySetup(bool with_data = true) {
    directory.Write("tiny.toml", kTinyConfig);
    if (with_data) WriteTinyData(directory);
  }
  TempDir directory;
};

TEST_CASE("memory prints who holds the peak, without any data") {
  const MemorySetup setup(false);
  const ProgramRun run = Frugal(setup.directory, "memory tiny.toml --out page.html");
  CHECK(run.exit_code == 0);
  CHECK(run.errors == "");
  for (const char* words : {"as planned: peak", "By kind of operation", "By layer", "By purpose",
                            "Largest at the peak", "floor ", "Peak within", "wrote page.html"}) {
    CheckContains(run.output, words);
  }
  CheckContains(ReadAll(setup.directory.File("page.html")), "who holds the memory");
}

TEST_CASE("memory as JSON is the plan's peak") {
  const MemorySetup setup(false);
  const Json plan = Json::parse(Frugal(setup.directory, "plan --json tiny.toml").output);
  const Json memory = Json::parse(Frugal(setup.directory, "memory --json tiny.toml").output);
  CHECK(memory.at("planned_bytes") == plan.at("peak_bytes"));
  CHECK(memory.at("devices").at(0).at("planned").at("peak_bytes") == plan.at("peak_bytes"));
  CHECK(memory.at("recomputation").at("points").size() >= 1);
}

TEST_CASE("train writes memory reports in the form that their names tell") {
  const MemorySetup setup;
  for (const char* name : {"m.html", "m.json", "m.trace.json"}) {
    const ProgramRun run =
        Frugal(setup.directory, std::string("train tiny.toml --memory-report ") + name);
    INFO(run.errors);
    CHECK(run.exit_code == 0);
    CheckContains(run.output, std::string("wrote ") + name);
  }
  const Json memory = Json::parse(ReadAll(setup.directory.File("m.json")));
  CHECK_FALSE(memory.at("devices").at(0).at("measured").is_null());
  CHECK(memory.at("process").at("resident_bytes") > 0);
  CHECK(memory.at("growth").size() >= 1);
  CHECK(Json::parse(ReadAll(setup.directory.File("m.trace.json"))).at("traceEvents").size() > 5);
}

TEST_CASE("memory diff tells what grew between configurations and reports") {
  const MemorySetup setup(false);
  CHECK(Frugal(setup.directory, "memory tiny.toml --no-curve --out a.json").exit_code == 0);
  const ProgramRun same = Frugal(setup.directory, "memory diff a.json tiny.toml");
  CHECK(same.exit_code == 0);
  CheckContains(same.output, "no change of the peak");
  CHECK(Frugal(setup.directory, "memory tiny.toml --set training.batch_size=8 --out b.json")
            .exit_code == 0);
  const ProgramRun grown = Frugal(setup.directory, "memory diff a.json b.json");
  CheckContains(grown.output, "as planned: ");
  CheckContains(grown.output, "By purpose");
}

TEST_CASE("mistakes with memory reports are a sentence each") {
  const MemorySetup setup;
  const auto refuse = [&](const std::string& arguments, const std::string& message) {
    const ProgramRun run = Frugal(setup.directory, arguments);
    INFO(run.output);
    CHECK(run.exit_code != 0);
    CheckContains(run.errors, message);
  };
  refuse("memory", "FILE.toml is required");
  refuse("memory absent.toml", "absent.toml");
  refuse("memory tiny.toml --out report.pdf", "is none of these by its name");
  refuse("memory tiny.toml --out no/such/report.html", "there is no directory");
  refuse("memory diff tiny.toml", "B is required");
  setup.directory.Write("other.json", "{\"a\": 1}");
  refuse("memory diff tiny.toml other.json", "[other.json] a memory report");
  refuse("train tiny.toml --memory-report report.txt", "output.memory_report");
}

}  // namespace
}  // namespace frugal::testing
