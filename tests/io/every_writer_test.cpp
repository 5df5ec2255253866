// Each function that writes a whole file, on disks that fail, interrupt, take half, and crash.
#include <functional>

#include "builders/report/report_file.h"
#include "sdk/core/error.h"
#include "sdk/io/atomic_file.h"
#include "sdk/io/npy_file.h"
#include "sdk/io/png_writer.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"
#include "tests/support/crash_states.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

struct NamedWriter {
  std::string name;
  std::function<void(const std::string& path)> write;
};

NamedWriter WeightsWriter(const std::string& name, WeightsFileFormat format) {
  return {name, [format](const std::string& path) {
            WriteWeights(path, format,
                         {F32("a", Shape{400}, std::vector<float>(400, 0.1F)),
                          F32("b", Shape{2, 2}, {1, 2, 3, 4})},
                         {{"key", "text"}});
          }};
}

void WriteOneArray(const std::string& path) {
  WriteNpy(path, {30, 10}, std::vector<float>(300, 0.5F));
}

void WriteOneImage(const std::string& path) {
  std::vector<std::uint8_t> bytes(3000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i / 7);
  WritePng(path, {.height = 50, .width = 60, .channels = 1, .bytes = bytes});
}

std::vector<NamedWriter> Writers() {
  return {WeightsWriter("safetensors", WeightsFileFormat::kSafetensors),
          WeightsWriter("binary", WeightsFileFormat::kBinary),
          WeightsWriter("json", WeightsFileFormat::kJson),
          {"npy", WriteOneArray},
          {"png", WriteOneImage},
          {"text", [](const std::string& path) { WriteTextFile(path, std::string(6000, 't')); }}};
}

// Returns what the writer makes where nothing fails.
std::string Expected(const NamedWriter& writer) {
  const TempDir directory(MemoryDirectory());
  writer.write(directory.File("file"));
  return ReadAll(directory.File("file"));
}

// Returns the error of writing over "old", and checks that nothing but the old or the new file is
// there, now and behind the next write.
std::string ErrorOf(const NamedWriter& writer, const TempDir& directory,
                    const std::string& expected) {
  const std::string path = directory.Write("file", "old");
  std::string message = MessageOf<FileError>([&] { writer.write(path); });
  const std::string text = ReadAll(path);
  CHECK((text == expected || (text == "old" && message != "no error")));
  const FileSystemScope healthy(SystemFiles());
  AtomicFile(directory.File("next")).Commit();
  CHECK(directory.Count() == 2);
  return message;
}

TEST_CASE("each writer names the file that failed, and leaves the old one", "[io]") {
  for (const NamedWriter& writer : Writers()) {
    INFO(writer.name);
    const std::string expected = Expected(writer);
    for (const Fault& fault : {Fault{.error = EIO}, Fault{.error = ENOSPC, .lasts = true}}) {
      const std::size_t calls = ForEachFailingCall(fault, [&](FailingFileSystem& files) {
        const TempDir directory(MemoryDirectory());
        const std::string message = ErrorOf(writer, directory, expected);
        INFO(files.failed());
        if (message == "no error") {
          CHECK((!files.has_failed() || files.failed() == "close"));
        } else {
          CHECK_THAT(message, Contains(directory.File("file")) &&
                                  Contains(std::generic_category().message(fault.error)));
        }
      });
      CHECK(calls >= 6);  // open, write, sync, rename, close, sync directory
    }
  }
}

TEST_CASE("each writer goes on where it was interrupted, or where half was taken", "[io]") {
  for (const NamedWriter& writer : Writers()) {
    INFO(writer.name);
    const std::string expected = Expected(writer);
    for (const Fault& fault : {Fault{.error = EINTR}, Fault{.short_write = true},
                               Fault{.short_write = true, .lasts = true}}) {
      ForEachFailingCall(fault, [&](FailingFileSystem&) {
        const TempDir directory(MemoryDirectory());
        CHECK(ErrorOf(writer, directory, expected) == "no error");
      });
    }
  }
}

TEST_CASE("each writer leaves the old file or the new one in a crash", "[io]") {
  for (const NamedWriter& writer : Writers()) {
    INFO(writer.name);
    const TempDir directory(MemoryDirectory());
    const std::string path = directory.Write("file", "old");
    RecordingFileSystem files(directory.File(""));
    {
      const FileSystemScope scope(files);
      writer.write(path);
      files.Mark("written");
    }
    const std::string expected = ReadAll(path);
    const CrashOptions options = {.block = 512, .most_states = 100};
    VisitCrashStates(files.recording(), options, [&](const CrashState& state) {
      INFO(state.text);
      const std::string text = ReadAll((state.directory / "file").string());
      CHECK((text == expected || (text == "old" && state.marks.empty())));
    });
  }
}

}  // namespace
}  // namespace frugal::testing
