#include "builders/capture/capture_training.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "builders/capture/diff_runs.h"
#include "sdk/capture/capture_error.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/verify/verify_capture.h"
#include "sdk/core/random.h"
#include "tests/builders/diffusion_runs.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/failing_file_system.h"
#include "tests/support/synthetic.h"

namespace frugal {
namespace {

using namespace testing;

CapturedTraining Capture(const SmallRun& run, const std::string& directory, std::int64_t steps = 2,
                         std::vector<std::string> patterns = {}) {
  return CaptureTraining(BuilderFor(run).Plan(),
                         {.directory = directory,
                          .steps = steps,
                          .selection = {std::move(patterns)},
                          .sources = SyntheticSources(LayoutFor(run.network))});
}

std::int64_t BytesBelow(const std::string& directory) {
  std::int64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
  }
  return bytes;
}

std::string BadOf(const VerifyReport& report) {
  std::string text;
  for (const EntryResult& result : report.results) {
    if (!IsBad(result.status)) continue;
    text += std::to_string(result.entry) + " " + result.operation + " on " + result.backend + ": " +
            result.reason + "\n";
  }
  return text;
}

// Rounding must leave room to tell these from wrong ones. It does not in the recurrent network,
// whose last layer begins with zeros, and in llama, whose first products vanish beside bf16's
// residual.
bool IsProductOrNorm(const std::string& operation) {
  return operation.starts_with("linear_") || operation.starts_with("conv_") ||
         operation.starts_with("attention_") || operation.starts_with("norm_") ||
         operation.starts_with("rms_");
}

TEST_CASE("a captured training computes the same bits, and its operations pass on both backends") {
  for (const std::string name : {"convnet", "decoder", "recurrent", "gpt2", "llama", "resnet18"}) {
    for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
      INFO(name << (precision == Precision::kF32 ? " f32" : " bf16"));
      const TempDir directory;
      const SmallRun run{.network = name, .memory = {}, .max_steps = 2, .precision = precision};
      const CapturedTraining captured = Capture(run, directory.File("capture"));
      CHECK(captured.steps == 2);
      CHECK(captured.weights_hash == Train(run).result.weights_hash);
      CHECK(captured.totals.entries > 20);
      CHECK(captured.totals.file_bytes() == BytesBelow(directory.File("capture")));
      const VerifyReport report = VerifyCapture(directory.File("capture"));
      INFO(BadOf(report));
      CHECK(report.passed());
      CHECK(report.Count(EntryStatus::kPassed) > std::ssize(report.results) / 2);
      for (const EntryResult& result : report.results) {
        CHECK((result.backend != "onednn" || result.same_bits()));
        INFO(result.operation << " of " << result.path << ": " << result.reason);
        if (name == "recurrent" || name == "llama") continue;
        CHECK((result.status != EntryStatus::kCannotTell || !IsProductOrNorm(result.operation)));
      }
    }
  }
}

TEST_CASE("a capture in f64 passes in f64 and in f32") {
  const TempDir directory;
  const SmallRun run{.network = "convnet",
                     .memory = {},
                     .max_steps = 1,
                     .backend = BackendKind::kEigen,
                     .precision = Precision::kF64};
  Capture(run, directory.File("capture"), 1);
  for (const std::optional<DType> precision :
       {std::optional<DType>(), std::optional(DType::kF32)}) {
    const VerifyReport report = VerifyCapture(directory.File("capture"), {.precision = precision});
    INFO(BadOf(report));
    CHECK(report.passed());
  }
}

TEST_CASE("two steps of a diffusion pass on both backends") {
  for (const Precision precision : {Precision::kF32, Precision::kBF16}) {
    const TempDir directory;
    AiModelBuilder builder = DrawingBuilder();
    builder.Override({std::string("training.precision=") +
                      (precision == Precision::kF32 ? "\"f32\"" : "\"bf16\"")});
    const CapturedTraining captured =
        CaptureTraining(builder.Plan(), {.directory = directory.File("capture"),
                                         .steps = 2,
                                         .sources = SyntheticSources(SyntheticLayout())});
    CHECK(captured.steps == 2);
    const VerifyReport report = VerifyCapture(directory.File("capture"));
    INFO(BadOf(report));
    CHECK(report.passed());
    CHECK(report.Count(EntryStatus::kPassed) > 100);
  }
}

TEST_CASE("the bytes of a capture are known before any is written") {
  const TempDir directory;
  const SmallRun run{.network = "gpt2", .memory = {}, .max_steps = 2};
  const CapturedTraining planned = Capture(run, "", 2, {"attention*", "linear_forward"});
  const CapturedTraining captured =
      Capture(run, directory.File("capture"), 2, {"attention*", "linear_forward"});
  CHECK(planned.totals.entries == captured.totals.entries);
  CHECK(planned.totals.file_bytes() == captured.totals.file_bytes());
  CHECK(captured.totals.file_bytes() == BytesBelow(directory.File("capture")));
  const CaptureReader reader(directory.File("capture"));
  for (const CaptureEntry& entry : reader.entries()) {
    CHECK((entry.call.kernel == "linear_forward" || entry.call.kernel.starts_with("attention")));
  }
}

TEST_CASE("entries say where they come from, recomputation and micro-batches too") {
  const TempDir directory;
  Capture({.network = "gpt2",
           .memory = TrainingMemoryConfig::ForTransformers(),
           .max_steps = 1,
           .accumulate = 2},
          directory.File("capture"), 1);
  const CaptureReader reader(directory.File("capture"));
  CHECK(reader.header().backend == "onednn");
  CHECK(reader.header().configuration_hash.size() == 16);
  const auto any = [&](auto holds) { return std::ranges::any_of(reader.entries(), holds); };
  CHECK(any([](const CaptureEntry& e) { return e.place.backward; }));
  CHECK(any([](const CaptureEntry& e) { return e.place.recomputed; }));
  CHECK(any([](const CaptureEntry& e) { return e.place.micro_batch == 1; }));
  CHECK(any([](const CaptureEntry& e) { return e.place.path.find("h.0") != std::string::npos; }));
  for (const CaptureEntry& entry : reader.entries()) {
    const std::string line = ToJson(entry);
    CHECK(ToJson(EntryFromJson(line, "here")) == line);
  }
}

// Cuts or changes a file.
void Damage(const std::string& path, bool cuts) {
  std::string content = ReadAll(path);
  if (cuts) {
    content.resize(content.size() - 8);
  } else {
    content.back() = static_cast<char>(content.back() ^ 1);
  }
  std::ofstream(path, std::ios::binary) << content;
}

TEST_CASE("a capture that ended in the middle is whole up to its last entry") {
  const TempDir directory;
  const std::string path = directory.File("capture");
  Capture({.network = "mlp", .memory = {}, .max_steps = 1}, path, 1);
  const auto all = std::ssize(CaptureReader(path).entries());
  Damage(path + "/manifest.jsonl", true);
  const CaptureReader torn(path);
  CHECK(torn.torn());
  CHECK(std::ssize(torn.entries()) == all - 1);
  const VerifyReport report = VerifyCapture(path);
  CHECK(report.torn);
  CHECK(report.passed());
}

TEST_CASE("files that are cut or changed are told, and the other entries go on") {
  for (const bool cuts : {true, false}) {
    for (const std::string kind : {"/tensors", "/entries"}) {
      const TempDir directory;
      const std::string path = directory.File("capture");
      Capture({.network = "convnet", .memory = {}, .batch = 64, .max_steps = 1}, path, 1);
      std::vector<std::string> files;
      for (const auto& file : std::filesystem::directory_iterator(path + kind)) {
        files.push_back(file.path().string());
      }
      std::ranges::sort(files);
      REQUIRE(!files.empty());
      Damage(files.back(), cuts);
      const VerifyReport report = VerifyCapture(path);
      INFO(files.back());
      CHECK(report.Count(EntryStatus::kError) > 0);
      CHECK(report.Count(EntryStatus::kError) < std::ssize(report.results) / 2);
      CHECK(report.Count(EntryStatus::kFailed) == 0);
    }
  }
}

TEST_CASE("a manifest with any byte changed is refused, or its entries tell what they came to") {
  const TempDir directory;
  const std::string path = directory.File("capture");
  Capture({.network = "mlp", .memory = {}, .max_steps = 1}, path, 1, {"linear_forward"});
  const std::string manifest = ReadAll(path + "/manifest.jsonl");
  std::int64_t refused = 0;
  for (std::uint64_t number = 0; number < 60; ++number) {
    std::string changed = manifest;
    const double where = UniformAt(7, 2 * number), what = UniformAt(7, 2 * number + 1);
    changed[static_cast<std::size_t>(where * static_cast<double>(changed.size()))] =
        static_cast<char>(32 + static_cast<int>(what * 95));
    directory.Write("capture/manifest.jsonl", changed);
    VerifyOptions options{.backends = {BackendKind::kEigen}, .timeout_seconds = 20};
    options.memory_cap = std::int64_t{1} << 30;
    try {
      VerifyCapture(path, options);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 10);
  CHECK(refused < 60);
}

VerifyOptions OptionsOf(const std::string& pattern) { return {.selection = {{pattern}}}; }
VerifyOptions CapOf(std::int64_t bytes) { return {.memory_cap = bytes}; }

TEST_CASE("what cannot be captured or read is refused in a sentence") {
  const TempDir directory;
  const SmallRun run{.network = "mlp", .memory = {}, .max_steps = 1};
  directory.Write("note.txt", "mine");
  CHECK_THROWS_WITH(Capture(run, directory.File("")), Catch::Contains("it is not empty"));
  CHECK_THROWS_WITH(Capture(run, directory.File("note.txt")),
                    Catch::Contains("it is no directory"));
  CHECK(ReadAll(directory.File("note.txt")) == "mine");
  CHECK_THROWS_WITH(VerifyCapture(directory.File("nowhere")), Catch::Contains("manifest.jsonl"));
  SmallRun sharded = run;
  sharded.memory.num_devices = 2;
  CHECK_THROWS_WITH(Capture(sharded, directory.File("two")), Catch::Contains("it runs on several"));

  Capture(run, directory.File("capture"), 1);
  CHECK_THROWS_WITH(VerifyCapture(directory.File("capture"), OptionsOf("gather")),
                    Catch::Contains("that is selected"));
  CHECK_THROWS_WITH(VerifyCapture(directory.File("capture"), CapOf(1 << 20)),
                    Catch::Contains("without any tensors"));
  std::string manifest = ReadAll(directory.File("capture/manifest.jsonl"));
  manifest.replace(manifest.find(":1,"), 3, ":9,");
  directory.Write("capture/manifest.jsonl", manifest);
  CHECK_THROWS_WITH(VerifyCapture(directory.File("capture")),
                    Catch::Contains("a capture of form 1"));
}

TEST_CASE("a full disk ends a capture, and what was written before is whole") {
  const SmallRun run{.network = "convnet", .memory = {}, .max_steps = 1};
  for (const std::size_t call : {30U, 120U, 331U}) {
    const TempDir directory;
    const std::string path = directory.File("capture");
    {
      FailingFileSystem full({.error = ENOSPC, .lasts = true, .call = call});
      const FileSystemScope scope(full);
      CHECK_THROWS_AS(Capture(run, path, 1), FileError);
      CHECK(full.has_failed());
    }
    const CaptureReader reader(path);
    if (reader.entries().empty()) continue;
    CHECK(VerifyCapture(path).passed());
  }
}

DiffRunsReport Diff(const SmallRun& first, const SmallRun& second, std::int64_t steps = 2) {
  return DiffRuns(BuilderFor(first).Plan(), BuilderFor(second).Plan(),
                  {.steps = steps,
                   .first_sources = SyntheticSources(LayoutFor(first.network)),
                   .second_sources = SyntheticSources(LayoutFor(second.network))});
}

TEST_CASE("runs of the same numbers agree, and others part at the first operation that differs") {
  const SmallRun run{.network = "gpt2", .memory = {}, .max_steps = 3};
  const DiffRunsReport same = Diff(run, run);
  CHECK(!same.difference);
  CHECK(same.steps == 2);
  CHECK(same.calls > 40);
  CHECK_THAT(same.Text(), Catch::Contains("agree bit for bit"));

  SmallRun faster = run;
  faster.optimizer.lr = 0.02;
  const DiffRunsReport rate = Diff(run, faster);
  REQUIRE(rate.difference);
  CHECK(rate.difference->kind == RunDifference::Kind::kAttribute);
  CHECK(rate.difference->tensor == "learning_rate");

  SmallRun other = run;
  other.backend = BackendKind::kEigen;
  const DiffRunsReport backends = Diff(run, other);
  REQUIRE(backends.difference);
  CHECK(backends.difference->kind == RunDifference::Kind::kOutput);
  CHECK(!backends.difference->place.path.empty());

  SmallRun smaller = run;
  smaller.batch = 4;
  const DiffRunsReport batch = Diff(run, smaller);
  REQUIRE(batch.difference);
  CHECK(batch.difference->kind == RunDifference::Kind::kInput);
  CHECK(batch.difference->number == 0);

  SmallRun parts = run;
  parts.accumulate = 2;
  CHECK(Diff(run, parts).difference);
  SmallRun longer = run;
  longer.max_steps = 1;
  const DiffRunsReport end = Diff(run, longer);
  REQUIRE(end.difference);
  CHECK(end.difference->kind == RunDifference::Kind::kEnd);
}

}  // namespace
}  // namespace frugal
