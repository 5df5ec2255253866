// A directory of snapshots: manifests, damage, crashes in the middle, calls that fail.
#include "sdk/io/snapshots/snapshot_store.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include "builders/snapshot/find_snapshot.h"
#include "builders/snapshot/write_snapshot.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/crash_states.h"
#include "tests/support/failing_file_system.h"
#include "tests/support/log_messages.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// A snapshot of one tensor whose values tell its step.
struct Content {
  explicit Content(std::int64_t step) : values(300, static_cast<float>(step)) {
    content.stand.position.step = step;
    content.stand.configuration = "# step " + std::to_string(step) + "\n";
    content.state = {{.name = "value/w",
                      .shape = {300},
                      .dtype = DType::kF32,
                      .bytes = std::as_bytes(std::span(values))}};
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  std::vector<float> values;
  SnapshotContent content;
};

void Save(const std::string& directory, std::int64_t step) {
  const Content content(step);
  WriteSnapshot(SnapshotPath(directory, step), content.content);
}

// The step that the snapshot's parts tell, which all must agree on.
std::int64_t StepOf(const std::string& path) {
  const Snapshot snapshot = OpenSnapshot(path);
  const std::int64_t step = snapshot.stand.position.step;
  CHECK(snapshot.manifest.step == step);
  CHECK(snapshot.stand.configuration == "# step " + std::to_string(step) + "\n");
  std::vector<float> values(300);
  for (const auto& file : snapshot.state->files()) {
    if (file->Find("value/w") != nullptr) file->ReadAsF32("value/w", values);
  }
  CHECK(std::ranges::all_of(values, [&](float v) { return v == static_cast<float>(step); }));
  return step;
}

TEST_CASE("a manifest is read as it was written, and others are refused") {
  const SnapshotManifest manifest{.version = "0.1.0",
                                  .step = 7,
                                  .monitor = "loss",
                                  .monitored = 0.1 + 0.2,
                                  .files = {{"a", 3, "0123456789abcdef"}}};
  const TempDir directory;
  directory.Write("manifest.json", ManifestText(manifest));
  const SnapshotManifest read = ReadManifest(directory.File(""));
  CHECK(read.step == 7);
  CHECK(read.monitored == 0.1 + 0.2);
  CHECK(read.files.front().hash == "0123456789abcdef");
  const std::string text = ManifestText(manifest);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return other;
  };
  for (const std::string& wrong :
       {std::string("{"), std::string("[]"), replaced("\"format\": 1", "\"format\": 2"),
        replaced("\"step\": 7", "\"step\": -7"), replaced("\"a\"", "\"../a\""),
        replaced("\"bytes\": 3", "\"bytes\": -3"), replaced("\"files\"", "\"file\"")}) {
    INFO(wrong);
    directory.Write("manifest.json", wrong);
    CHECK_THROWS_AS(ReadManifest(directory.File("")), SnapshotError);
  }
}

TEST_CASE("a snapshot is refused where anything of it is missing or changed") {
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.File("step");
  {
    const Content content(5);
    WriteSnapshot(path, content.content);
  }
  CHECK(StepOf(path) == 5);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) {
    names.push_back(entry.path().filename().string());
  }
  CHECK(names.size() == 5);
  for (const std::string& name : names) {
    INFO(name);
    const std::string file = fs::path(path) / name, aside = directory.File("aside");
    const std::string whole = ReadAll(file);
    fs::rename(file, aside);
    CHECK_THAT(RefusalOf([&] { OpenSnapshot(path); }), Contains(path));
    std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() / 2);
    CHECK_THAT(RefusalOf([&] { OpenSnapshot(path); }), Contains(name));
    std::string flipped = whole;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    std::ofstream(file, std::ios::binary) << flipped;
    CHECK_THAT(RefusalOf([&] { OpenSnapshot(path); }), Contains(path));
    fs::rename(aside, file);
  }
  CHECK(StepOf(path) == 5);
  CHECK_THAT(RefusalOf([&] { OpenSnapshot(directory.File("none")); }), Contains("it is not there"));
}

TEST_CASE("the last whole snapshot is found, and a damaged one told") {
  const TempDir directory(MemoryDirectory());
  const std::string all = directory.File("s");
  CHECK_FALSE(FindLastSnapshot(all));
  CHECK_THROWS_AS(SnapshotToResume("must", all), SnapshotError);
  CHECK_THROWS_AS(SnapshotToResume("auto", std::nullopt), ConfigError);
  for (const std::int64_t step : {5, 10, 15}) Save(all, step);
  CHECK(SnapshotToResume("auto", all) == SnapshotPath(all, 15));
  fs::resize_file(SnapshotPath(all, 15) + "/rank-0.safetensors", 100);
  const LogMessages messages;
  CHECK(SnapshotToResume("must", all) == SnapshotPath(all, 10));
  REQUIRE(messages.warnings().size() == 1);
  CHECK_THAT(messages.warnings().front(),
             Contains("it has 100 bytes") && Contains("rank-0.safetensors"));
  CHECK(SnapshotToResume(SnapshotPath(all, 5), std::nullopt) == SnapshotPath(all, 5));
  CHECK(SnapshotToResume(all, std::nullopt) == SnapshotPath(all, 10));
}

TEST_CASE("the last snapshots and the best ones are kept") {
  std::vector<SnapshotManifest> manifests;
  const std::vector<std::optional<double>> losses = {0.5, std::nullopt, 0.2,
                                                     0.3, std::nullopt, 0.9};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    manifests.push_back(
        {.step = static_cast<std::int64_t>(i), .monitored = losses[i], .files = {}});
  }
  using StepList = std::vector<std::int64_t>;
  CHECK(Superseded(manifests, {.keep_last = 6}).empty());
  CHECK(Superseded(manifests, {.keep_last = 2}) == StepList{0, 1, 2, 3});
  CHECK(Superseded(manifests, {.keep_last = 1, .keep_best = 2}) == StepList{0, 1, 4});
  CHECK(Superseded(manifests, {.keep_last = 1, .keep_best = 1, .larger_is_better = true}) ==
        StepList{0, 1, 2, 3, 4});
  CHECK(Superseded(manifests, {.keep_last = 0}) == StepList{0, 1, 2, 3, 4});
  CHECK(Superseded({}, {}).empty());
}

TEST_CASE("a directory of snapshots serves one training at a time") {
  const TempDir directory(MemoryDirectory());
  const SnapshotStore store(directory.File("a/b"));
  CHECK_THROWS_WITH(SnapshotStore(directory.File("a/b")), Contains("another training uses it"));
}

// Saves a second snapshot beside a first one, and removes a third, older one.
void SaveSecond(const std::string& all) {
  SnapshotStore store(all);
  Save(all, 20);
  store.Remove(5);
}

TEST_CASE("each state that a crash may leave has the old snapshot or the new one") {
  const TempDir directory(MemoryDirectory());
  Save(directory.File("s"), 5);
  Save(directory.File("s"), 10);
  RecordingFileSystem files(directory.File(""));
  {
    const FileSystemScope scope(files);
    SnapshotStore store(directory.File("s"));
    Save(directory.File("s"), 20);
    files.Mark("saved");
    store.Remove(5);
  }
  const LogMessages quiet;
  const std::size_t states =
      VisitCrashStates(files.recording(), {.block = 512, .most_states = 300, .seed = 1},
                       [&](const CrashState& state) {
                         INFO(state.text);
                         const std::string all = (state.directory / "s").string();
                         const auto found = FindLastSnapshot(all);
                         REQUIRE(found);
                         const std::int64_t step = StepOf(*found);
                         CHECK((step == 20 || (step == 10 && state.marks.empty())));
                         const SnapshotStore next(all);  // the next start leaves nothing unfinished
                         for (const auto& entry : fs::directory_iterator(all)) {
                           CHECK(entry.path().extension() == "");
                         }
                       });
  CHECK(states > 60);
}

// Two ranks save one snapshot, each its part.
void SaveByTwo(const std::string& directory, std::int64_t step) {
  Content first(step), second(step);
  second.content.state.front().name = "value/v";
  first.content.ranks = second.content.ranks = 2;
  second.content.rank = 1;
  const std::string path = SnapshotPath(directory, step);
  BeginSnapshot(path);
  std::thread other([&] { WriteBegunSnapshot(path, second.content); });
  WriteBegunSnapshot(path, first.content);
  other.join();
}

TEST_CASE("a crash while several ranks save leaves the old snapshot or all of the new one") {
  const TempDir directory(MemoryDirectory());
  Save(directory.File("s"), 10);
  RecordingFileSystem files(directory.File(""));
  {
    const FileSystemScope scope(files);
    SaveByTwo(directory.File("s"), 20);
    files.Mark("saved");
  }
  const LogMessages quiet;
  VisitCrashStates(files.recording(), {.block = 512, .most_states = 40, .seed = 1},
                   [&](const CrashState& state) {
                     INFO(state.text);
                     const auto found = FindLastSnapshot((state.directory / "s").string());
                     REQUIRE(found);
                     const std::int64_t step = StepOf(*found);
                     CHECK((step == 20 || (step == 10 && state.marks.empty())));
                     if (step == 20) CHECK(OpenSnapshot(*found).state->Find("value/v") != nullptr);
                   });
}

TEST_CASE("a rank that cannot write its part ends the snapshot for all") {
  const TempDir directory(MemoryDirectory());
  const std::string path = SnapshotPath(directory.File("s"), 3);
  Content first(3), second(3);
  first.content.ranks = second.content.ranks = 2;
  second.content.rank = 1;
  second.content.state.front().name = "";  // what no file may hold
  BeginSnapshot(path);
  std::string refusal;  // Catch2 counts on one thread
  std::thread other(
      [&] { refusal = RefusalOf([&] { WriteBegunSnapshot(path, second.content); }); });
  CHECK_THROWS_AS(WriteBegunSnapshot(path, first.content), FileError);
  other.join();
  CHECK_FALSE(refusal.empty());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a call that fails leaves the old snapshot, and an error that names a path") {
  for (const Fault& fault : {Fault{.error = EIO}, Fault{.error = ENOSPC, .lasts = true},
                             Fault{.error = EINTR}, Fault{.short_write = true}}) {
    const std::size_t failed = ForEachFailingCall(fault, [&](FailingFileSystem& files) {
      const TempDir directory(MemoryDirectory());
      const std::string all = directory.File("s");
      {
        const FileSystemScope healthy(SystemFiles());
        Save(all, 5);
        Save(all, 10);
      }
      const std::string refusal = RefusalOf([&] { SaveSecond(all); });
      INFO(files.failed() << ": " << refusal);
      if (!refusal.empty()) CHECK_THAT(refusal, Contains(all));
      const FileSystemScope healthy(SystemFiles());
      const LogMessages quiet;
      const auto found = FindLastSnapshot(all);
      REQUIRE(found);
      const std::int64_t step = StepOf(*found);
      CHECK((step == 20 || (step == 10 && !refusal.empty())));
      const SnapshotStore next(all);
      for (const auto& entry : fs::directory_iterator(all)) {
        CHECK(entry.path().extension() == "");
      }
    });
    CHECK(failed > (fault.short_write ? 3U : 20U));
  }
}

}  // namespace
}  // namespace frugal::testing
