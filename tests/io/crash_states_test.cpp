#include "tests/support/crash_states.h"

#include <set>

#include "sdk/io/append_file.h"
#include "sdk/io/atomic_file.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Protocol = std::function<void(FileSystem& files, const std::string& directory)>;
using Findings = std::set<std::string>;

const std::string kOld(5000, 'o');
const std::string kNew(9001, 'n');  // in three blocks

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// Writes a file the naive way, and syncs it where asked to.
void WriteNew(FileSystem& files, const std::string& path, bool syncs) {
  std::error_code error;
  const int file = files.Open(path, OpenMode::kNew, 0666, error);
  REQUIRE_FALSE(WriteAll(files, file, 0, AsBytes(kNew)));
  if (syncs) REQUIRE_FALSE(files.Sync(file));
  files.Close(file);
}

Recording Recorded(const TempDir& directory, const Protocol& protocol) {
  RecordingFileSystem files(directory.File(""));
  const FileSystemScope scope(files);
  protocol(files, directory.File(""));
  files.Mark("saved");
  return files.recording();
}

// Returns what a reader may find at "file", as "old", "new", "neither" or "none", and "lost" where
// it is not the new one though the writer had said that it is saved.
Findings FindingsOf(const Protocol& protocol, CrashOptions options = {}) {
  const TempDir directory(MemoryDirectory());
  directory.Write("file", kOld);
  const Recording recording = Recorded(directory, protocol);
  Findings findings;
  VisitCrashStates(recording, options, [&](const CrashState& state) {
    const fs::path file = state.directory / "file";
    const std::string text = ReadAll(file.string());
    findings.insert(!fs::exists(file) ? "none"
                    : text == kOld    ? "old"
                    : text == kNew    ? "new"
                                      : "neither");
    if (!state.marks.empty() && text != kNew) findings.insert("lost");
  });
  return findings;
}

std::string Printed(const std::string& text) {
  std::string printed;
  for (const char c : text) printed += c == '\0' ? '0' : c;
  return printed;
}

// Returns each state of a directory, its files as "name=bytes" with zeros as '0'.
std::multiset<std::string> StatesOf(const Recording& recording, CrashOptions options) {
  std::multiset<std::string> states;
  VisitCrashStates(recording, options, [&](const CrashState& state) {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(state.directory)) {
      const std::string name = entry.path().lexically_relative(state.directory).string();
      files.insert(entry.is_directory() ? name + "/"
                                        : name + "=" + Printed(ReadAll(entry.path().string())));
    }
    std::string text;
    for (const std::string& file : files) text += (text.empty() ? "" : " ") + file;
    states.insert(text);
  });
  return states;
}

TEST_CASE("crash states: a new file is missing, empty, torn at any block, or whole", "[io]") {
  const TempDir directory(MemoryDirectory());
  RecordingFileSystem files(directory.File(""));
  std::error_code error;
  const int file = files.Open(directory.File("a"), OpenMode::kNew, 0666, error);
  REQUIRE(files.WriteAt(file, 0, AsBytes("abc"), error) == 3);
  const CrashOptions options = {.block = 2, .most_states = 1000};
  using States = std::multiset<std::string>;
  CHECK(StatesOf(files.recording(), options) ==
        States{"", "a=", "a=00", "a=000", "a=00c", "a=ab", "a=ab0", "a=abc"});
  REQUIRE_FALSE(files.Sync(file));
  REQUIRE_FALSE(files.SyncDirectory(directory.File("")));
  files.Mark("saved");
  files.Close(file);
  CHECK(StatesOf(files.recording(), options).count("a=abc") == 2);  // before the mark and behind
  std::size_t behind = 0;
  VisitCrashStates(files.recording(), options, [&](const CrashState& state) {
    if (state.marks.empty()) return;
    ++behind;
    CHECK(ReadAll((state.directory / "a").string()) == "abc");
  });
  CHECK(behind == 1);
}

TEST_CASE("crash states: bytes are overwritten in any order, and cut before or after", "[io]") {
  const TempDir directory(MemoryDirectory());
  directory.Write("a", "abcd");
  RecordingFileSystem files(directory.File(""));
  std::error_code error;
  const int file = files.Open(directory.File("a"), OpenMode::kEmpty, 0666, error);
  REQUIRE(files.WriteAt(file, 0, AsBytes("WXYZ"), error) == 4);
  files.Close(file);
  const auto states = StatesOf(files.recording(), {.block = 2, .most_states = 1000});
  for (const char* text : {"a=abcd", "a=WXcd", "a=abYZ", "a=WXYZ", "a=", "a=WX", "a=00YZ"}) {
    CHECK(states.count(text) == 1);
  }
}

TEST_CASE("crash states: a rename is one step, names come and go in any order", "[io]") {
  const TempDir directory(MemoryDirectory());
  directory.Write("a", "A");
  directory.Write("b", "B");
  RecordingFileSystem files(directory.File(""));
  REQUIRE_FALSE(files.Rename(directory.File("a"), directory.File("b")));
  REQUIRE_FALSE(files.MakeDirectory(directory.File("c")));
  REQUIRE_FALSE(files.Rename(directory.File("b"), directory.File("c/b")));
  using States = std::multiset<std::string>;
  const States all = {"a=A b=B", "b=A", "a=A b=B c/", "b=A c/", "c/ c/b=A", "a=A b=B c/ c/b=A"};
  States seen = StatesOf(files.recording(), {});
  for (const std::string& state : all) {
    INFO(state);
    if (state != "a=A b=B c/ c/b=A") CHECK(seen.count(state) == 1);
  }
  REQUIRE_FALSE(files.SyncDirectory(directory.File("c")));
  const std::size_t calls = files.recording().calls.size();
  REQUIRE_FALSE(files.SyncDirectory(directory.File("")));
  std::size_t last = 0;
  VisitCrashStates(files.recording(), {}, [&](const CrashState& state) {
    if (state.calls <= calls) return;
    ++last;
  });
  CHECK(last == 0);  // what is durable is a state that was seen before
}

TEST_CASE("crash states: each protocol that is known to be wrong is caught", "[io]") {
  for (const std::int64_t block : {512, 4096}) {
    const CrashOptions options = {.block = block};
    const auto no_sync = [](FileSystem& files, const std::string& directory) {
      WriteNew(files, directory + "new", false);
      files.Rename(directory + "new", directory + "file");
      files.SyncDirectory(directory);
    };
    CHECK(FindingsOf(no_sync, options) == Findings{"old", "new", "neither", "lost"});
    const auto no_names = [](FileSystem& files, const std::string& directory) {
      WriteNew(files, directory + "new", true);
      files.Rename(directory + "new", directory + "file");
    };
    CHECK(FindingsOf(no_names, options) == Findings{"old", "new", "lost"});
    const auto names_too_early = [](FileSystem& files, const std::string& directory) {
      WriteNew(files, directory + "new", true);
      files.SyncDirectory(directory);
      files.Rename(directory + "new", directory + "file");
    };
    CHECK(FindingsOf(names_too_early, options) == Findings{"old", "new", "lost"});
    const auto in_place = [](FileSystem& files, const std::string& directory) {
      std::error_code error;
      const int file = files.Open(directory + "file", OpenMode::kContinue, 0666, error);
      REQUIRE_FALSE(WriteAll(files, file, 0, AsBytes(kNew)));
      files.Sync(file);
      files.Close(file);
    };
    CHECK(FindingsOf(in_place, options) == Findings{"old", "new", "neither"});
    const auto removes_first = [](FileSystem& files, const std::string& directory) {
      WriteNew(files, directory + "new", true);
      files.Remove(directory + "file");
      files.Rename(directory + "new", directory + "file");
      files.SyncDirectory(directory);
    };
    CHECK(FindingsOf(removes_first, options) == Findings{"old", "new", "none"});
  }
}

TEST_CASE("crash states: of an AtomicFile the old file or the new one is whole", "[io]") {
  for (const std::int64_t block : {512, 4096}) {
    const auto atomic = [](FileSystem&, const std::string& directory) {
      AtomicFile file(directory + "file");
      file.WriteAt(4000, AsBytes(kNew).subspan(4000));
      file.WriteAt(0, AsBytes(kNew).first(4000));
      file.Commit();
    };
    CHECK(FindingsOf(atomic, {.block = block}) == Findings{"old", "new"});
  }
}

TEST_CASE("crash states: an old file may go when the new one is durable, not earlier", "[io]") {
  const auto finds_neither = [](bool is_durable) {
    const TempDir directory(MemoryDirectory());
    directory.Write("1", kOld);
    const Recording recording = Recorded(directory, [&](FileSystem& files, const std::string& in) {
      WriteNew(files, in + "partial", true);
      files.Rename(in + "partial", in + "2");
      if (is_durable) files.SyncDirectory(in);
      files.Remove(in + "1");
    });
    bool neither = false;
    VisitCrashStates(recording, {}, [&](const CrashState& state) {
      const bool old = ReadAll((state.directory / "1").string()) == kOld;
      neither = neither || (!old && ReadAll((state.directory / "2").string()) != kNew);
    });
    return neither;
  };
  CHECK(finds_neither(false));
  CHECK_FALSE(finds_neither(true));
}

TEST_CASE("crash states: a directory that we make is durable with what is committed in it",
          "[io]") {
  const auto loses = [](const Protocol& make) {
    const TempDir directory(MemoryDirectory());
    bool lost = false;
    const Recording recording = Recorded(directory, [&](FileSystem& files, const std::string& in) {
      make(files, in);
      AtomicFile file(in + "a/b/file");
      file.Append(kNew);
      file.Commit();
    });
    VisitCrashStates(recording, {}, [&](const CrashState& state) {
      if (state.marks.empty()) return;
      lost = lost || ReadAll((state.directory / "a/b/file").string()) != kNew;
    });
    return lost;
  };
  CHECK(loses([](FileSystem& files, const std::string& in) {
    files.MakeDirectory(in + "a");
    files.MakeDirectory(in + "a/b");
  }));
  CHECK_FALSE(loses([](FileSystem& files, const std::string& in) {
    REQUIRE_FALSE(MakeDirectories(files, in + "a/b"));
  }));
}

TEST_CASE("crash states: a log keeps what was synced, and what is behind it may be torn", "[io]") {
  const TempDir directory(MemoryDirectory());
  RecordingFileSystem files(directory.File(""));
  {
    const FileSystemScope scope(files);
    AppendFile log(directory.File("log"), OpenMode::kEmpty, {});
    log.Append("one\n");
    log.Append("two\n");
    log.Sync();
    files.Mark("two");
    log.Append("three\n");
  }
  std::set<std::string> seen;
  VisitCrashStates(files.recording(), {.block = 4}, [&](const CrashState& state) {
    const std::string text = ReadAll((state.directory / "log").string());
    if (!state.marks.empty()) seen.insert(Printed(text));
  });
  CHECK(seen == std::set<std::string>{"one\ntwo\n", "one\ntwo\n0000", "one\ntwo\nthre",
                                      "one\ntwo\n000000", "one\ntwo\nthre00", "one\ntwo\n0000e\n",
                                      "one\ntwo\nthree\n"});
}

TEST_CASE("crash states: weights of each form are the old ones or the new ones", "[io]") {
  const std::vector<NamedBytes> old = {F32("a", Shape{2}, {1, 2})};
  const std::vector<NamedBytes> now = {F32("a", Shape{300}, std::vector<float>(300, 3)),
                                       F32("b", Shape{2}, {4, 5})};
  for (const auto format :
       {WeightsFileFormat::kSafetensors, WeightsFileFormat::kBinary, WeightsFileFormat::kJson}) {
    const TempDir directory(MemoryDirectory());
    const std::string path = directory.File("w");
    WriteWeights(path, format, old);
    const std::string before = ReadAll(path);
    const Recording recording = Recorded(
        directory, [&](FileSystem&, const std::string&) { WriteWeights(path, format, now); });
    const std::string after = ReadAll(path);
    const std::size_t count = VisitCrashStates(
        recording, {.block = 512, .most_states = 100}, [&](const CrashState& state) {
          const std::string text = ReadAll((state.directory / "w").string());
          INFO(state.text);
          CHECK((text == after || (text == before && state.marks.empty())));
        });
    CHECK(count >= 10);
  }
}

}  // namespace
}  // namespace frugal::testing
