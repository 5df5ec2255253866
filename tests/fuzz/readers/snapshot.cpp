#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sdk/io/snapshots/snapshot_manifest.h"
#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;

// A snapshot's directory in memory, in which the input is the manifest.
class Directory {
 public:
  explicit Directory(const std::string& manifest) {
    std::string name = "/dev/shm/frugal_fuzz_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::logic_error("no temporary directory");
    path_ = name;
    std::error_code error;
    do {
      fs::copy_file(manifest, path_ / kManifestName, fs::copy_options::overwrite_existing, error);
    } while (error == std::errc::interrupted);  // by libFuzzer's timer
    if (error) throw std::system_error(error);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

void Read(const std::string& path) {
  const Directory directory(path);
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
