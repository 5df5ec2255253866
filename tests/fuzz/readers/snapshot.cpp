#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sdk/io/snapshots/snapshot_manifest.h"
#include "tests/fuzz/readers/file_reader.h"
#include "tests/fuzz/readers/memory_directory.h"

namespace frugal::testing {
namespace {

void Read(const std::string& path) {
  static const MemoryDirectory directory;
  directory.Put(path, kManifestName);
  const SnapshotManifest manifest = ReadManifest(directory.path());
  for (const SnapshotFile& file : manifest.files) {
    if (file.name.find('/') != std::string::npos) {
      throw std::logic_error("a snapshot's files are in its directory");
    }
  }
  if (manifest.files.empty()) return;
  try {
    VerifySnapshot(directory.path(), manifest);
  } catch (const SnapshotError&) {  // of files that are not there
  }
}

// The manifest with a change that its hash knows of.
std::string Hashed(const std::string& from, const std::string& to) {
  std::string text =
      ManifestText({.version = "0.1.0", .step = 7, .files = {{"a", 3, "0123456789abcdef"}}});
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::vector<FileCase> Cases() {
  const std::string whole = ManifestText({.version = "0.1.0",
                                          .step = 7,
                                          .monitor = "loss",
                                          .monitored = 0.5,
                                          .files = {{"a", 3, "0123456789abcdef"}}});
  return {
      {"valid", whole, ""},
      {"no_files", ManifestText({.version = "0.1.0", .step = 0, .files = {}}), ""},
      {"empty", "", "no manifest"},
      {"empty_object", "{}", "no manifest"},
      {"a_list", "[]", "no manifest"},
      {"cut_short", whole.substr(0, whole.size() / 2), "no manifest"},
      {"another_form", Hashed("\"format\": 1", "\"format\": 2"), "reads form 1"},
      {"fraction_as_form", Hashed("\"format\": 1", "\"format\": 8e36"), "no manifest"},
      {"edited_step", Hashed("\"step\": 7", "\"step\": 8"), "not as it was written"},
      {"edited_path", Hashed("\"a\"", "\"../../a\""), "not as it was written"},
      {"nested_deep", std::string(100'000, '[') + std::string(100'000, ']'), "without end"},
      {"nested_in_object", "{\"format\": 1, \"x\": " + std::string(5'000, '[') + "}",
       "without end"},
      {"not_utf8", "{\"format\": 1, \"frugal\": \"\xFF\"}", "no manifest"},
      {"huge_step", Hashed("\"step\": 7", "\"step\": 1e400"), "no manifest"},
  };
}

}  // namespace

FileReader SnapshotFileReader() {
  return {.name = "snapshot",
          .read = Read,
          .cases = Cases,
          .bytes_per_byte = 128,
          .fixed_bytes = std::size_t{4} << 20};
}

}  // namespace frugal::testing
