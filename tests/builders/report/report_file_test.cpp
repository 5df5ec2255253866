#include "builders/report/report_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

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
  } catch (const FileError& error) {
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
  CHECK(ErrorOf(missing) ==
        "[" + missing +
            "] a file is written into a directory that exists; there is no directory '" +
            (directory.path / "no").string() + "'; create it first");
  const std::string itself = directory.path.string();
  const std::string required = "] the path of a file that can be written; ";
  CHECK(ErrorOf(itself) ==
        "[" + itself + required + "'" + itself + "' is a directory; name another file");
  CHECK(ErrorOf("/dev/null") ==
        "[/dev/null" + required + "'/dev/null' is a device; name another file");
  CHECK(ErrorOf("") ==
        "the path of a file that can be written; the path is empty; name another file");
}

}  // namespace frugal
