#include "sdk/io/snapshots/snapshot_json.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sdk/io/snapshots/snapshot_error.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

// Manifests name a few files for each rank, and a training has some evaluations.
constexpr std::uintmax_t kMostBytes = 64 << 20;
constexpr int kMostLevels = 16;

bool NestsDeep(const std::string& text) {
  bool is_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, const Json&) {
    is_deep = is_deep || depth > kMostLevels;
    return depth <= kMostLevels;  // deeper values are dropped at once
  };
  [[maybe_unused]] const Json looked_at = Json::parse(text, look, false);
  return is_deep;
}

}  // namespace

std::string ReadSnapshotJson(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) RefuseSnapshotFile(path, "it cannot be read: " + error.message());
  if (size > kMostBytes) RefuseSnapshotFile(path, "it has " + std::to_string(size) + " bytes");
  std::string text(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(size));
  if (!file) RefuseSnapshotFile(path, "it cannot be read to its end");
  if (NestsDeep(text)) RefuseSnapshotFile(path, "it has lists within lists without end");
  return text;
}

}  // namespace frugal
