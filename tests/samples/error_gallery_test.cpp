// Every wrong input gets the exact message that error_gallery.txt shows. To renew that file:
//   build/release/bin/sample_020_error_gallery > tests/samples/error_gallery.txt
#include "tests/samples/run_program.h"

namespace frugal::testing {
namespace {

TEST_CASE("every wrong input gets its message") {
  const TempDir directory;
  const ProgramRun run = Run(directory, Program("sample_020_error_gallery"));
  CHECK(run.exit_code == 0);
  CHECK(run.errors == "");
  std::istringstream expected(
      ReadAll(std::string(FRUGAL_TEST_DATA) + "/samples/error_gallery.txt"));
  std::istringstream actual(run.output);
  std::string expected_line;
  std::string actual_line;
  std::string last_line;  // "167 mistakes, 167 messages"
  int number = 0;
  while (std::getline(expected, expected_line)) {
    INFO("line " << ++number << " of tests/samples/error_gallery.txt");
    std::getline(actual, actual_line);
    REQUIRE(actual_line == expected_line);
    last_line = expected_line;
  }
  CHECK_FALSE(std::getline(actual, actual_line));
  CHECK(number > 40);
  CheckContains(ReadAll(std::string(FRUGAL_TEST_DATA) + "/../README.md"),
                "error_gallery` prints " + last_line.substr(0, last_line.find(' ')) + " of them");
}

}  // namespace
}  // namespace frugal::testing
