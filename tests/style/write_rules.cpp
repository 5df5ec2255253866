#include "tests/style/write_rules.h"

#include <algorithm>
#include <array>

namespace frugal::style {
namespace {

constexpr std::string_view kItself = "sdk/io/file_system.cpp";
constexpr std::array<std::string_view, 4> kRooms = {"sdk/", "layers/", "presets/", "builders/"};

// Each changes a file whatever its arguments are.
constexpr auto kWriters =
    std::to_array<std::string_view>({"ofstream",           "std::fstream",
                                     "freopen(",           "::creat(",
                                     "::rename(",          "std::rename",
                                     "::renameat",         "::unlink",
                                     "::rmdir(",           "::mkdir",
                                     "::pwrite",           "::writev(",
                                     "::fsync(",           "::fdatasync(",
                                     "::ftruncate(",       "::truncate(",
                                     "::fallocate(",       "::mkstemp(",
                                     "::mkdtemp(",         "::link(",
                                     "::symlink(",         "fs::rename",
                                     "fs::remove",         "fs::copy",
                                     "fs::resize_file",    "fs::create_",
                                     "filesystem::rename", "filesystem::remove",
                                     "filesystem::copy",   "filesystem::resize_file",
                                     "filesystem::create_"});

bool Has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

// A call that opens a file is one that writes by its arguments, as far as they stand in its line.
bool OpensToWrite(std::string_view line) {
  if (Has(line, "fopen(")) return !Has(line, ", \"r") || Has(line, "+");
  if (!Has(line, "::open(") && !Has(line, "::openat(")) return false;
  return !Has(line, "O_RDONLY");
}

// True for ::write to what is no file of ours.
bool WritesToTerminal(std::string_view line) { return Has(line, "STDERR_FILENO"); }

}  // namespace

std::optional<std::string> WriteProblem(std::string_view path, std::string_view line) {
  const bool is_ours =
      std::ranges::any_of(kRooms, [&](std::string_view room) { return path.starts_with(room); });
  if (!is_ours || path == kItself) return std::nullopt;
  line = line.substr(0, line.find("//"));
  std::string found;
  for (const std::string_view call : kWriters) {
    if (found.empty() && Has(line, call)) found = call;
  }
  if (found.empty() && OpensToWrite(line)) found = "a file that is opened to write";
  if (found.empty() && Has(line, "::write(") && !WritesToTerminal(line)) found = "::write(";
  if (found.empty()) return std::nullopt;
  return "\"" + found + "\" outside of sdk/io/file_system.cpp: write by CurrentFileSystem()";
}

}  // namespace frugal::style
