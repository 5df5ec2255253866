// A test case that cannot run is called skipped, here and by ctest.
#include "tests/skip.h"

#include "tests/catch.h"
#include "tests/samples/run_program.h"

namespace frugal::testing {
namespace {

ProgramRun RunProbes(const std::string& tags) {
  const TempDir directory;
  return Run(directory, Program("frugal_tests") + " '" + tags + "'");
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("probe that is skipped", "[.][skip-probe][needs-nothing]") {
  SECTION("a") {}
  SECTION("b") {}
  FRUGAL_SKIP_UNLESS(false, "nothing is there");
  FAIL("it goes on");
}

TEST_CASE("probe that runs", "[.][run-probe]") { CHECK(true); }

TEST_CASE("probe that is skipped and has no tag", "[.][tagless-probe]") {
  FRUGAL_SKIP_UNLESS(false, "nothing is there");
}

TEST_CASE("probe that fails as often as the exit code of skipped tests says", "[.][fail-probe]") {
  for (int i = 0; i < 77; ++i) CHECK(i < 0);
}

TEST_CASE("skipped tests say so, once each, and have an exit code of their own", "[skip]") {
  const ProgramRun all = RunProbes("[skip-probe]");
  CHECK(all.exit_code == 77);
  const std::string line = "skipped: probe that is skipped: nothing is there\n";
  CHECK(Has(all.output, line));
  CHECK(all.output.find(line) == all.output.rfind(line));
  CHECK(Has(all.output, "1 of 1 test cases skipped"));
}

TEST_CASE("beside a test that ran, skipped ones are printed and counted", "[skip]") {
  const ProgramRun some = RunProbes("[skip-probe],[run-probe]");
  CHECK(some.exit_code == 0);
  CHECK(Has(some.output, "skipped: probe that is skipped: nothing is there\n"));
  CHECK(Has(some.output, "1 of 2 test cases skipped"));
}

TEST_CASE("no failure is taken for a skipped test", "[skip]") {
  CHECK(RunProbes("[fail-probe]").exit_code == 1);
  CHECK(RunProbes("[fail-probe],[skip-probe]").exit_code == 1);
  CHECK(RunProbes("[tagless-probe]").exit_code == 1);
}

}  // namespace
}  // namespace frugal::testing
