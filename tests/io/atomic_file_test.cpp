#include "sdk/io/atomic_file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/skip.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;

void WriteAtomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.Append(text);
  file.Commit();
}

TEST_CASE("a file that is left in the page cache is whole, and nothing waits for the disk") {
  const TempDir directory;
  const auto calls_of = [&](PageCache cache) {
    FailingFileSystem counting({});
    const FileSystemScope scope(counting);
    AtomicFile file(directory.File("a"), cache);
    file.Append("text");
    file.Commit();
    return counting.calls();
  };
  const std::size_t synced = calls_of(PageCache::kUse);
  CHECK(calls_of(PageCache::kLeaveIn) == synced - 2);  // the file's sync and the directory's
  CHECK(ReadAll(directory.File("a")) == "text");
  CHECK(directory.Count() == 1);
}

mode_t ModeOf(const std::string& path) {
  struct stat facts = {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

std::string Refusal(const std::string& path) {
  return MessageOf<FileError>([&] { WriteAtomically(path, "x"); });
}

// A process that has begun to write `path` and waits; its end of a pipe says that it has begun.
class Writer {
 public:
  explicit Writer(const std::string& path) {
    int ends[2] = {};
    REQUIRE(::pipe(ends) == 0);
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      AtomicFile file(path);
      file.Append("unfinished");
      if (::write(ends[1], "x", 1) == 1) ::pause();
      ::_exit(1);
    }
    char begun = 0;
    REQUIRE(::read(ends[0], &begun, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void Kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  pid_t process_ = -1;
};

TEST_CASE("what a killed process leaves is removed by the next write beside it", "[io]") {
  const TempDir directory;
  Writer writer(directory.File("w.safetensors"));
  CHECK(directory.Count() == 1);
  writer.Kill();
  CHECK(directory.Count() == 1);
  const std::string other = directory.File("summary.json");
  WriteAtomically(other, "whole");
  CHECK(directory.Count() == 1);
  CHECK(ReadAll(other) == "whole");
}

TEST_CASE("what a living process writes is left alone", "[io]") {
  const TempDir directory;
  Writer writer(directory.File("w"));
  {
    AtomicFile one(directory.File("one"));  // and so is what this one writes
    AtomicFile two(directory.File("two"));
    CHECK(directory.Count() == 3);
    one.Commit();
    two.Commit();
  }
  CHECK(directory.Count() == 3);
  writer.Kill();
  WriteAtomically(directory.File("one"), "");
  CHECK(directory.Count() == 2);
}

TEST_CASE("files that look like partial ones but are not ours stay", "[io]") {
  const TempDir directory;
  directory.Write("frugal-partial-notes", "mine");
  directory.Write("frugal-partial-elsewhere-1-0", "of another host");
  WriteAtomically(directory.File("w"), "");
  CHECK(directory.Count() == 3);
}

TEST_CASE("a name as long as a file system takes can be written", "[io]") {
  const TempDir directory;
  const std::string path = directory.File(std::string(255, 'w'));
  WriteAtomically(path, "text");
  CHECK(ReadAll(path) == "text");
}

TEST_CASE("a replaced file keeps its permissions, a new one gets those of the mask", "[io]") {
  const TempDir directory;
  const std::string secret = directory.Write("secret", "old");
  for (const auto mode : {0600, 0640, 0666, 0755}) {
    REQUIRE(::chmod(secret.c_str(), static_cast<mode_t>(mode)) == 0);
    WriteAtomically(secret, "new");
    CHECK(ModeOf(secret) == static_cast<mode_t>(mode));
  }
  const mode_t before = ::umask(027);
  WriteAtomically(directory.File("new"), "");
  ::umask(before);
  CHECK(ModeOf(directory.File("new")) == 0640);
}

TEST_CASE("a replaced file keeps its owner", "[io][needs-root]") {
  FRUGAL_SKIP_UNLESS(::geteuid() == 0, "only root may give a file away");
  const TempDir directory;
  const std::string path = directory.Write("theirs", "old");
  REQUIRE(::chown(path.c_str(), 12345, 23456) == 0);
  WriteAtomically(path, "new");
  struct stat facts = {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  CHECK(facts.st_uid == 12345);
  CHECK(facts.st_gid == 23456);
}

TEST_CASE("a dangling link is written through, as a shell does", "[io]") {
  const TempDir directory;
  fs::create_directory(directory.File("there"));
  const std::string link = directory.File("link");
  fs::create_symlink("middle", link);
  fs::create_symlink("there/target", directory.File("middle"));
  for (const char* text : {"first", "second"}) {
    WriteAtomically(link, text);
    CHECK(fs::is_symlink(link));
    CHECK(fs::is_symlink(directory.File("middle")));
    CHECK(ReadAll(directory.File("there/target")) == text);
  }
  fs::create_symlink("nowhere/target", directory.File("astray"));
  CheckContains(Refusal(directory.File("astray")), "nowhere'; create it first");
  fs::create_symlink("circle", directory.File("circle"));
  CheckContains(Refusal(directory.File("circle")), "leads back to itself");
}

TEST_CASE("a path with a NUL is refused, and no file is made under its beginning", "[io]") {
  const TempDir directory;
  CheckContains(Refusal(directory.File(std::string_view("w\0.safetensors", 14))), "NUL character");
  CHECK(directory.Count() == 0);
}

TEST_CASE("a write-protected file is not replaced", "[io][needs-user]") {
  FRUGAL_SKIP_UNLESS(::geteuid() != 0, "root may write everything");
  const TempDir directory;
  const std::string path = directory.Write("kept", "old");
  fs::permissions(path, fs::perms::owner_read);
  CheckContains(Refusal(path), "may not be written");
  CHECK(ReadAll(path) == "old");
}

}  // namespace
}  // namespace frugal::testing
