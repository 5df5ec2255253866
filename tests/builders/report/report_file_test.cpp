#include <filesystem>
#include <fstream>
#include <iterator>

#include "builders/report/text_file.h"
#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

struct Directory {
  Directory() : path(fs::temp_directory_path() / "frugal_report_file_test") {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~Directory() { fs::remove_all(path); }
  fs::path path;
};

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ErrorOf(const std::string& path) {
  try {
    WriteTextFile(path, "text");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("A text file is written whole and replaced whole") {
  const Directory directory;
  const fs::path file = directory.path / "report.html";
  WriteTextFile(file.string(), std::string(100000, 'x'));
  CHECK(fs::file_size(file) == 100000);
  WriteTextFile(file.string(), "short\n");
  CHECK(ContentOf(file) == "short\n");
  WriteTextFile(file.string(), "");
  CHECK(ContentOf(file).empty());
  CHECK(std::distance(fs::directory_iterator(directory.path), {}) == 1);
}

TEST_CASE("Errors name the path and the reason, and say nothing of weights") {
  const Directory directory;
  const std::string missing = (directory.path / "no" / "report.html").string();
  CHECK(ErrorOf(missing) == "[" + missing +
                                "] this file must be writable; there is no directory '" +
                                (directory.path / "no").string() + "'; create it first");
  const std::string itself = directory.path.string();
  CHECK(ErrorOf(itself) ==
        "[" + itself + "] this file must be writable; this is a directory; name a file");
  CHECK(ErrorOf("/dev/null") ==
        "[/dev/null] this file must be writable; this is a device; name a file");
  CHECK(ErrorOf("").starts_with("["));
}

}  // namespace frugal
