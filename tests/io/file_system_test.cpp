#include "sdk/io/file_system.h"

#include <optional>
#include <thread>

#include "sdk/core/error.h"
#include "sdk/io/append_file.h"
#include "sdk/io/atomic_file.h"
#include "tests/io/temp_dir.h"
#include "tests/support/failing_file_system.h"
#include "tests/support/log_messages.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

TEST_CASE("a scope replaces the file system for all threads, and ends", "[io]") {
  const TempDir directory(MemoryDirectory());
  FailingFileSystem files({.error = ENOSPC, .lasts = true, .call = 1});
  const auto write = [&] {
    return MessageOf<FileError>([&] { AtomicFile(directory.File("a")).Commit(); });
  };
  std::string of_other_thread;
  {
    const FileSystemScope scope(files);
    CHECK_THAT(write(), Contains("/a]") && Contains("No space left on device"));
    std::thread([&] { of_other_thread = write(); }).join();
    FailingFileSystem inner({});
    const FileSystemScope nested(inner);
    CHECK(write() == "no error");
    CHECK(inner.calls() > 4);
  }
  CHECK_THAT(of_other_thread, Contains("No space left on device"));
  CHECK(write() == "no error");
  CHECK(&CurrentFileSystem() == &SystemFiles());
}

TEST_CASE("open modes take or make a file, and say why not", "[io]") {
  const TempDir directory(MemoryDirectory());
  FileSystem& files = SystemFiles();
  const std::string path = directory.Write("there", "text");
  const std::string missing = directory.File("missing");
  fs::create_symlink(path, directory.File("link"));
  const auto open = [&](const std::string& at, OpenMode mode) {
    std::error_code error;
    const int file = OpenFile(files, at, mode, 0666, error);
    CHECK((file < 0) == static_cast<bool>(error));
    if (file >= 0) files.Close(file);
    return error;
  };
  CHECK(open(path, OpenMode::kNew) == std::errc::file_exists);
  CHECK(open(missing, OpenMode::kExisting) == std::errc::no_such_file_or_directory);
  CHECK(open(directory.File("link"), OpenMode::kExisting) ==
        std::errc::too_many_symbolic_link_levels);
  CHECK_FALSE(open(path, OpenMode::kExisting));
  CHECK_FALSE(open(path, OpenMode::kContinue));
  CHECK(ReadAll(path) == "text");
  CHECK_FALSE(open(path, OpenMode::kEmpty));
  CHECK(ReadAll(path).empty());
  CHECK_FALSE(open(missing, OpenMode::kContinue));
  CHECK(fs::exists(missing));
}

TEST_CASE("directories are made with those above them, however they are spelled", "[io]") {
  const TempDir directory(MemoryDirectory());
  FileSystem& files = SystemFiles();
  for (const char* path : {"a/b/c", "a/b/c", "d/", "e/f/", "a/./g/../h", ""}) {
    INFO(path);
    CHECK_FALSE(MakeDirectories(files, directory.File(path)));
    CHECK(fs::is_directory(directory.File(path)));
  }
  CHECK_FALSE(MakeDirectories(files, "."));
  CHECK_FALSE(MakeDirectories(files, "/"));
  CHECK(MakeDirectories(files, "") == std::errc::no_such_file_or_directory);
  const std::string file = directory.Write("file", "");
  CHECK(MakeDirectories(files, file) == std::errc::file_exists);
  CHECK(MakeDirectories(files, file + "/below") == std::errc::file_exists);
  CHECK(MakeDirectories(files, "/proc/none/below") == std::errc::no_such_file_or_directory);
}

TEST_CASE("each failing call of an AtomicFile leaves the old file or the new one", "[io]") {
  const bool lasts = GENERATE(false, true);
  const int error = GENERATE(EIO, ENOSPC);
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.File("file");
  const std::size_t count =
      ForEachFailingCall({.error = error, .lasts = lasts}, [&](FailingFileSystem& files) {
        directory.Write("file", "old");
        const std::string message = MessageOf<FileError>([&] {
          AtomicFile file(path);
          file.Append("new");
          file.Append("er");
          file.Commit();
        });
        INFO(files.failed());
        const std::string failed = files.failed();  // once it is renamed, what is there is new
        const bool is_new = failed.empty() || failed == "close" || failed.starts_with("sync dir");
        CHECK(ReadAll(path) == (is_new ? "newer" : "old"));
        if (message != "no error") {
          CHECK_THAT(message, Contains(path) && Contains(std::generic_category().message(error)));
        } else {
          CHECK((failed.empty() || failed == "close"));
        }
        const FileSystemScope healthy(SystemFiles());
        AtomicFile(directory.File("other")).Commit();
        CHECK(directory.Count() == 2);
        fs::remove(directory.File("other"));
      });
  CHECK(count == 7);  // open, write, write, sync, rename, close, sync directory
}

TEST_CASE("short writes and interruptions change nothing", "[io]") {
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.File("file");
  const auto write = [&](FailingFileSystem&) {
    AtomicFile file(path);
    file.Append("some bytes");
    file.Commit();
    CHECK(ReadAll(path) == "some bytes");
    CHECK(directory.Count() == 1);
    fs::remove(path);
  };
  CHECK(ForEachFailingCall({.error = EINTR}, write) == 6);
  ForEachFailingCall({.short_write = true}, write);
  FailingFileSystem files({.short_write = true, .lasts = true, .call = 1});
  const FileSystemScope scope(files);
  write(files);
  CHECK(files.calls() > 8);  // 10 bytes are 5, 3, 1 and 1
}

TEST_CASE("a directory that nobody may sync is no error, one that fails is", "[io]") {
  const TempDir directory(MemoryDirectory());
  for (const int error : {EINVAL, ENOTSUP, EACCES, EPERM, EIO, ENOSPC, EDQUOT}) {
    FailingFileSystem files({.error = error, .lasts = true, .call = 1});
    const bool fails = error == EIO || error == ENOSPC || error == EDQUOT;
    CHECK(static_cast<bool>(SyncNames(files, directory.File(""))) == fails);
  }
}

TEST_CASE("what failed once cannot be committed", "[io]") {
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.Write("file", "old");
  // A system reports the loss of bytes at one sync; the next one knows nothing of it.
  ForEachFailingCall({.error = EIO}, [&](FailingFileSystem& files) {
    std::optional<AtomicFile> file;
    const auto commit = [&] { return MessageOf<FileError>([&] { file->Commit(); }); };
    if (MessageOf<FileError>([&] { file.emplace(path); }) != "no error") return;
    const bool fails =
        MessageOf<FileError>([&] { file->Append("new"); }) != "no error" || commit() != "no error";
    if (!fails || files.failed().starts_with("sync directory")) return;
    CHECK_THAT(commit(), Contains(path) && Contains("Input/output error"));
    CHECK(ReadAll(path) == "old");
  });
}

TEST_CASE("a log that cannot be opened is an error, one that cannot be written a warning", "[io]") {
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.File("log");
  const AppendFile::Purpose purpose = {.required = "a log can be written", .advice = "try another"};
  const bool lasts = GENERATE(false, true);
  const std::size_t count =
      ForEachFailingCall({.error = ENOSPC, .lasts = lasts}, [&](FailingFileSystem& files) {
        const LogMessages messages;
        const std::string error = MessageOf<FileError>([&] {
          AppendFile log(path, OpenMode::kEmpty, purpose);
          for (const char* record : {"one\n", "two\n", "three\n"}) log.Append(record);
          log.Sync();
        });
        INFO(files.failed());
        const std::string text = ReadAll(path);
        if (files.failed().starts_with("open")) {
          CHECK_THAT(error, Contains(path) && Contains("a log can be written; No space left on "
                                                       "device; try another"));
          return;
        }
        CHECK(error == "no error");
        const bool is_told = files.has_failed() && files.failed() != "close";
        REQUIRE(messages.warnings().size() == (is_told ? 1 : 0));
        if (is_told) {
          CHECK_THAT(messages.warnings()[0], Contains(path) && Contains("the training goes on"));
        }
        if (!lasts && files.failed() == "write") {
          CHECK((text == "two\nthree\n" || text == "one\nthree\n" || text == "one\ntwo\n"));
        } else if (!lasts || files.failed() == "sync" || files.failed() == "close") {
          CHECK(text == "one\ntwo\nthree\n");
        }
      });
  CHECK(count == 7);  // open, sync directory, three writes, sync, close
}

TEST_CASE("a torn record is cut off, or written over where not even that is possible", "[io]") {
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.File("log");
  const LogMessages messages;
  for (const std::size_t cut : {0, 5}) {  // calls: open, sync directory, write, write, cut, write
    FailingFileSystem tears({.short_write = true, .call = 3});
    FailingFileSystem ends({.error = ENOSPC, .call = 4}, tears);
    FailingFileSystem files({.error = EIO, .call = cut}, ends);
    const FileSystemScope scope(files);
    AppendFile log(path, OpenMode::kEmpty, {});
    log.Append("first\n");
    CHECK(ReadAll(path) == (cut == 0 ? "" : "fir"));
    CHECK(log.size() == 0);
    log.Append("second\n");
    CHECK(ReadAll(path) == "second\n");
  }
  CHECK(messages.warnings().size() == 2);
}

TEST_CASE("a log is emptied, or goes on behind what it holds", "[io]") {
  const TempDir directory(MemoryDirectory());
  const std::string path = directory.Write("log", "before\n");
  AppendFile(path, OpenMode::kContinue, {}).Append("behind\n");
  CHECK(ReadAll(path) == "before\nbehind\n");
  AppendFile(path, OpenMode::kEmpty, {}).Append("new\n");
  CHECK(ReadAll(path) == "new\n");
}

}  // namespace
}  // namespace frugal::testing
