// Outputs of a training on a disk that fails: the training is not lost, nor is what was there.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "builders/run_training.h"
#include "sdk/io/atomic_file.h"
#include "sdk/io/weights/open_weights.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/crash_states.h"
#include "tests/support/failing_file_system.h"
#include "tests/support/log_messages.h"
#include "tests/support/refusal.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::vector<std::string> kWholeFiles = {"w.safetensors", "best.json", "summary.json",
                                              "report.html"};

// Trains four steps, with every output that there is.
void TrainInto(const TempDir& directory) {
  SmallRun run;
  run.network = "mlp";
  run.threads = 1;
  run.max_steps = 4;
  AiModelBuilder builder = BuilderFor(run).Override(
      {"training.evaluate_every=2", "output.weights=" + directory.File("w.safetensors"),
       "output.best_weights=" + directory.File("best.json"),
       "output.log=" + directory.File("log.csv"), "output.tensorboard=" + directory.File("runs/a"),
       "output.summary=" + directory.File("summary.json"),
       "output.report=" + directory.File("report.html")});
  RunTraining(builder.Plan(), {.quiet = true}, SyntheticSources(LayoutFor(run.network)));
}

// True where a reader takes the file for a whole one.
bool IsWhole(const fs::path& file) {
  const std::string text = ReadAll(file.string());
  if (file.filename() == "report.html") return text.find("</html>") != std::string::npos;
  if (file.filename() == "summary.json") return nlohmann::json::accept(text);
  return RefusalOf([&] { OpenWeights(file.string()); }).empty();
}

void CheckOldOrWhole(const fs::path& directory) {
  for (const std::string& name : kWholeFiles) {
    INFO(name);
    CHECK((ReadAll((directory / name).string()) == "old" || IsWhole(directory / name)));
  }
}

// True for a refusal from before the first step: those name the key of the output.
bool IsBefore(const std::string& refusal) { return refusal.find("output.") != std::string::npos; }

// Checks that a training that was refused before its first step left everything as it was.
void CheckUntouched(const TempDir& directory) {
  for (const std::string& name : kWholeFiles) CHECK(ReadAll(directory.File(name)) == "old");
}

// Checks that what a call that failed left behind goes with the next file beside it.
void CheckNextStart(const TempDir& directory) {
  const FileSystemScope healthy(SystemFiles());
  AtomicFile(directory.File("next")).Commit();
  if (fs::exists(directory.File("runs/a"))) AtomicFile(directory.File("runs/a/next")).Commit();
  const fs::recursive_directory_iterator all(directory.File(""));
  CHECK(std::ranges::none_of(all, [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("frugal-partial");
  }));
}

// Returns all that was said, by an error or by warnings.
std::string Told(const std::string& refusal, const LogMessages& messages) {
  std::string told = refusal;
  for (const std::string& warning : messages.warnings()) told += "\n" + warning;
  return told;
}

TEST_CASE("a call that fails costs a file at most, and is told with its name", "[io]") {
  const int error = GENERATE(EIO, ENOSPC);
  std::size_t before = 0;
  std::size_t warned = 0;
  std::size_t behind = 0;
  ForEachFailingCall({.error = error}, [&](FailingFileSystem& files) {
    const TempDir directory(MemoryDirectory());
    for (const std::string& name : kWholeFiles) directory.Write(name, "old");
    const LogMessages messages;
    const std::string refusal = RefusalOf([&] { TrainInto(directory); });
    const std::string told = Told(refusal, messages);
    INFO(files.failed());
    INFO(told);
    CheckOldOrWhole(directory.File(""));
    if (IsBefore(refusal)) CheckUntouched(directory);
    const std::string log = ReadAll(directory.File("log.csv"));
    if (!IsBefore(refusal)) CHECK(std::ranges::count(log, '\n') >= 6);
    const bool is_harmless =
        !files.has_failed() || files.failed() == "close" || files.failed().starts_with("remove");
    if (is_harmless) CHECK(told.empty());
    if (!is_harmless) CHECK_THAT(told, Contains(directory.File("")));
    if (!told.empty()) ++(refusal.empty() ? warned : IsBefore(refusal) ? before : behind);
    CheckNextStart(directory);
  });
  CHECK(before > 8);
  CHECK(warned > 20);
  CHECK(behind > 12);
}

TEST_CASE("calls that are interrupted, or take half, are made again", "[io]") {
  for (const Fault& fault : {Fault{.error = EINTR}, Fault{.short_write = true}}) {
    ForEachFailingCall(fault, [&](FailingFileSystem& files) {
      const TempDir directory(MemoryDirectory());
      const LogMessages messages;
      const std::string told = Told(RefusalOf([&] { TrainInto(directory); }), messages);
      INFO(files.failed());
      CHECK(told.empty());
      for (const std::string& name : kWholeFiles) CHECK(IsWhole(directory.File(name)));
      CHECK(std::ranges::count(ReadAll(directory.File("log.csv")), '\n') >= 7);
    });
  }
}

TEST_CASE("a disk that is full from some call on ends files, not a training", "[io]") {
  ForEachFailingCall({.error = ENOSPC, .lasts = true}, [&](FailingFileSystem& files) {
    const TempDir directory(MemoryDirectory());
    for (const std::string& name : kWholeFiles) directory.Write(name, "old");
    const LogMessages messages;
    const std::string refusal = RefusalOf([&] { TrainInto(directory); });
    const std::string told = Told(refusal, messages);
    INFO(files.failed());
    INFO(told);
    CheckOldOrWhole(directory.File(""));
    if (IsBefore(refusal)) CheckUntouched(directory);
    for (const std::string& name : kWholeFiles) {
      if (IsBefore(refusal) || ReadAll(directory.File(name)) != "old") continue;
      CHECK_THAT(told, Contains(directory.File(name)));
    }
    CheckNextStart(directory);
  });
}

TEST_CASE("a crash leaves the outputs of before or whole ones, and those that were told", "[io]") {
  const TempDir directory(MemoryDirectory());
  for (const std::string& name : kWholeFiles) directory.Write(name, "old");
  RecordingFileSystem files(directory.File(""));
  {
    const FileSystemScope scope(files);
    TrainInto(directory);
    files.Mark("all written");
  }
  std::size_t old = 0;
  std::size_t behind = 0;
  const CrashOptions options = {.most_states = 12};
  VisitCrashStates(files.recording(), options, [&](const CrashState& state) {
    INFO(state.text);
    CheckOldOrWhole(state.directory);
    for (const char* name : {"w.safetensors", "summary.json", "report.html"}) {
      const std::string text = ReadAll((state.directory / name).string());
      CHECK((text == "old" || text == ReadAll(directory.File(name))));  // to the last byte
    }
    const bool is_old = ReadAll((state.directory / "w.safetensors").string()) == "old";
    ++(is_old ? old : behind);
    if (state.marks.empty()) return;
    CHECK_FALSE(is_old);
    CHECK(ReadAll((state.directory / "report.html").string()) != "old");
    CHECK(fs::exists(state.directory / "runs/a"));
  });
  CHECK(old > 30);
  CHECK(behind > 8);
}

}  // namespace
}  // namespace frugal::testing
