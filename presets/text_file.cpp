#include "presets/text_file.h"

#include <array>
#include <fstream>

#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

[[noreturn]] void Refuse(const std::filesystem::path& path, const char* given, const char* advice) {
  throw ConfigError({"", "a TOML file is needed", given, advice}, {path.string()});
}

}  // namespace

std::string ReadTextFile(const std::filesystem::path& path) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) Refuse(path, "there is no such file", "check the path");
  if (std::filesystem::is_directory(status)) {
    Refuse(path, "this is a directory", "name a file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) Refuse(path, "it cannot be opened", "check its permissions");
  std::string text;
  std::array<char, 4096> chunk{};
  while (text.size() <= kMostBytes && (file.read(chunk.data(), chunk.size()), file.gcount() > 0)) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) Refuse(path, "it cannot be read", "check the disk");
  if (text.size() > kMostBytes) Refuse(path, "this one is larger than 16 MB", "check the path");
  return text;
}

}  // namespace frugal
