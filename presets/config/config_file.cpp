#include "presets/config/config_file.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "presets/config/nearest_name.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(const std::filesystem::path& path, const std::string& given,
                         const std::string& advice) {
  throw ConfigError({"", "a TOML file is needed", given, advice}, {path.string()});
}

std::vector<std::string> FilesIn(const std::filesystem::path& directory) {
  constexpr std::size_t kMostNames = 10000;
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end;
       !error && at != end && names.size() < kMostNames; at.increment(error)) {
    std::error_code unreadable;
    if (at->is_regular_file(unreadable)) names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string SuggestFile(const std::filesystem::path& path,
                        const std::vector<std::string>& other_names) {
  const std::filesystem::path directory = path.parent_path();
  std::vector<std::string> names = FilesIn(directory.empty() ? "." : directory);
  names.insert(names.end(), other_names.begin(), other_names.end());
  return SuggestName(path.filename().string(), names);
}

std::string ReadTextFile(const std::filesystem::path& path) {
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) {
    const std::string suggestion = SuggestFile(path);
    Refuse(path, "there is no such file", suggestion.empty() ? "check the path" : suggestion);
  }
  if (std::filesystem::is_directory(status)) {
    Refuse(path, "this is a directory", "name a file in it");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) Refuse(path, "it cannot be opened", "check its permissions");
  std::string text;
  std::array<char, 4096> chunk{};
  while (text.size() <= kMostConfigBytes &&
         (file.read(chunk.data(), chunk.size()), file.gcount() > 0)) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) Refuse(path, "it cannot be read", "check the disk");
  if (text.size() > kMostConfigBytes)
    Refuse(path, "this one is larger than 2 MB", "check the path");
  return text;
}

}  // namespace frugal
