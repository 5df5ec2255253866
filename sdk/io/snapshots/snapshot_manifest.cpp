#include "sdk/io/snapshots/snapshot_manifest.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "sdk/io/file_hash.h"
#include "sdk/io/json_integer.h"
#include "sdk/io/snapshots/snapshot_json.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kOwnHash = "xxh3";

// Names of files stay in the snapshot's directory.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

// The manifest tells the hash of all else in it.
std::string HashOf(Json json) {
  json.erase(kOwnHash);
  const std::string text = json.dump();
  FileHash hash;
  hash.Add(std::as_bytes(std::span(text)));
  return hash.Hex();
}

SnapshotFile FileOf(const Json& json) {
  SnapshotFile file{.name = json.at("name").get<std::string>(),
                    .bytes = JsonInteger(json.at("bytes")),
                    .hash = json.at("xxh3").get<std::string>()};
  if (!IsPlainName(file.name)) throw std::invalid_argument("a file's name is a path");
  if (file.bytes < 0) throw std::invalid_argument("a file has a negative size");
  return file;
}

SnapshotManifest ManifestOf(const Json& json) {
  const auto format = JsonInteger(json.at("format"));
  if (format != kFormat) {
    throw std::invalid_argument("it is of form " + std::to_string(format) +
                                ", and this version of frugal reads form 1");
  }
  if (json.at(kOwnHash).get<std::string>() != HashOf(json)) {
    throw std::invalid_argument("it is not as it was written");
  }
  SnapshotManifest manifest{.version = json.at("frugal").get<std::string>(),
                            .step = JsonInteger(json.at("step")),
                            .files = {}};
  if (manifest.step < 0) throw std::invalid_argument("its step is negative");
  if (json.contains("monitor")) {
    manifest.monitor = json.at("monitor").at("name").get<std::string>();
    manifest.monitored = json.at("monitor").at("value").get<double>();
  }
  std::set<std::string> names;
  for (const Json& one : json.at("files")) {
    const SnapshotFile& file = manifest.files.emplace_back(FileOf(one));
    if (!names.insert(file.name).second) throw std::invalid_argument("a file is there twice");
  }
  return manifest;
}

}  // namespace

std::string ManifestText(const SnapshotManifest& manifest) {
  Json json = {{"format", kFormat}, {"frugal", manifest.version}, {"step", manifest.step}};
  if (manifest.monitored && std::isfinite(*manifest.monitored)) {
    json["monitor"] = {{"name", manifest.monitor}, {"value", *manifest.monitored}};
  }
  json["files"] = Json::array();
  for (const SnapshotFile& file : manifest.files) {
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"xxh3", file.hash}});
  }
  json[kOwnHash] = HashOf(json);
  return json.dump(2) + "\n";
}

SnapshotManifest ReadManifest(const std::string& snapshot) {
  std::error_code error;
  if (!std::filesystem::is_directory(snapshot, error)) {
    throw SnapshotError(
        {.where = snapshot,
         .required = "the directory of a snapshot",
         .given = std::filesystem::exists(snapshot, error) ? "it is a file" : "it is not there",
         .advice = "name a directory step-... that a training wrote"});
  }
  const std::string path = snapshot + "/" + kManifestName;
  if (!std::filesystem::exists(path, error)) {
    throw SnapshotError({.where = snapshot,
                         .required = "the directory of a snapshot",
                         .given = std::string("it has no ") + kManifestName,
                         .advice = "name a directory step-... that a training wrote"});
  }
  const std::string text = ReadSnapshotJson(path);
  try {
    return ManifestOf(Json::parse(text));
  } catch (const nlohmann::json::exception&) {
    RefuseSnapshotFile(path, "it is no manifest of a snapshot");
  } catch (const std::invalid_argument& problem) {
    RefuseSnapshotFile(path, problem.what());
  }
}

void VerifySnapshot(const std::string& snapshot, const SnapshotManifest& manifest) {
  std::vector<char> buffer(1 << 20);
  for (const SnapshotFile& file : manifest.files) {
    const std::string path = snapshot + "/" + file.name;
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) RefuseSnapshotFile(path, "it cannot be read: " + error.message());
    if (std::cmp_not_equal(size, file.bytes)) {
      RefuseSnapshotFile(
          path, "it has " + std::to_string(size) + " bytes, not " + std::to_string(file.bytes));
    }
    std::ifstream stream(path, std::ios::binary);
    FileHash hash;
    while (stream.read(buffer.data(), std::ssize(buffer)) || stream.gcount() > 0) {
      hash.Add(std::as_bytes(std::span(buffer.data(), static_cast<std::size_t>(stream.gcount()))));
    }
    if (hash.Hex() != file.hash)
      RefuseSnapshotFile(path, "its bytes are not those that were written");
  }
}

}  // namespace frugal
