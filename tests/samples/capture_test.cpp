// A capture whose entries are each larger than the memory that verifying it may take.
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "sdk/capture/calls/array_calls.h"
#include "sdk/capture/calls/product_calls.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/store/capture_writer.h"
#include "tests/capture/call_cases.h"
#include "tests/catch.h"
#include "tests/samples/run_program.h"
#include "tests/samples/tiny_config.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kCap = std::int64_t{96} << 20;
constexpr std::int64_t kEntries = 20, kWidth = 64, kIds = 2048;
constexpr std::int64_t kRows = kCap / (4 * kWidth) + 1000;

CaptureHeader Header() {
  return {.version = "0.1.0",
          .backend = "onednn",
          .precision = "f32",
          .threads = 2,
          .instruction_set = "any",
          .configuration_hash = "0123456789abcdef",
          .configuration = "test",
          .seed = 7};
}

void Record(CaptureWriter& writer, Call& call, Backend& backend) {
  call.Prepare(backend, Heap());
  const Tensor scratch = ScratchOf(call.Scratch(backend));
  writer.Before(call, {.path = "layer"});
  call.Run(backend, scratch.raw());
  writer.After(call, {.path = "layer"});
}

// 20 entries that gather from one table, which alone is larger than the cap.
CaptureTotals WriteSharedTable(const std::string& directory) {
  CaptureWriter writer(directory, Header(), {});
  const auto backend = MakeOneDnnBackend();
  GatherCall call;
  call.table = Uninitialized({kRows, kWidth});
  const std::span<float> values = call.table.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 8191) - 4096;
  for (std::int64_t entry = 0; entry < kEntries; ++entry) {
    CallDraw draw(static_cast<std::uint64_t>(entry));
    call.ids = draw.Labels({kIds}, kRows), call.y = draw.Out({kIds, kWidth});
    Record(writer, call, *backend);
  }
  return writer.totals();
}

// Results by entry, without what tells time and memory.
std::vector<Json> ResultsOf(const std::string& text) {
  std::vector<Json> results = Json::parse(text).at("results").get<std::vector<Json>>();
  for (Json& result : results) {
    for (const char* name : {"seconds", "peak_rss_bytes", "slices"}) result.erase(name);
  }
  return results;
}

TEST_CASE("20 entries of a shared table 20 times the cap are verified within it", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!kIsSanitized, "a sanitizer takes memory of its own");
  const TempDir directory;
  const CaptureTotals totals = WriteSharedTable(directory.File("capture"));
  CHECK(totals.tensor_bytes >= 20 * kCap);
  CHECK(totals.tensor_bytes >= 9 * totals.file_bytes());
  const ProgramRun capped = Frugal(directory, "verify capture --json --memory-cap 96MiB");
  INFO(capped.errors);
  REQUIRE(capped.exit_code == 0);
  const ProgramRun free = Frugal(directory, "verify capture --json");
  REQUIRE(free.exit_code == 0);
  const Json report = Json::parse(capped.output);
  CHECK(report.at("passed") == true);
  CHECK(report.at("peak_rss_bytes") <= kCap);
  CHECK(report.at("policy").get<std::string>().find("96.0 MB") != std::string::npos);
  CHECK(ResultsOf(capped.output) == ResultsOf(free.output));
  CHECK(ResultsOf(free.output).size() == 2 * kEntries);
}

TEST_CASE("an entry above the cap is cut into rows, or told where it cannot be", "[needs-plain]") {
  FRUGAL_SKIP_UNLESS(!kIsSanitized, "a sanitizer takes memory of its own");
  const TempDir directory;
  {
    CaptureWriter writer(directory.File("capture"), Header(), {});
    const auto backend = MakeOneDnnBackend();
    CallDraw draw(3);
    LinearForwardCall forward;
    forward.x = draw.Real({120'000, 64}), forward.weight = LinearWeight(draw.Real({16, 64}));
    forward.y = draw.Out({120'000, 16});
    Record(writer, forward, *backend);
    LinearBackwardWeightCall backward;
    backward.x = forward.x, backward.dy = forward.y;
    backward.dweight = LinearWeight(draw.Out({16, 64}));
    Record(writer, backward, *backend);
  }
  const ProgramRun run =
      Frugal(directory, "verify capture --json --memory-cap 96MiB --backend onednn");
  CHECK(run.exit_code == 1);
  const Json results = Json::parse(run.output).at("results");
  REQUIRE(results.size() == 2);
  CHECK(results[0].at("status") == "passed");
  CHECK(results[0].at("slices") > 1);
  CHECK(results[1].at("status") == "too large");
  CHECK(results[1].at("reason").get<std::string>().find("raise --memory-cap") != std::string::npos);
  for (const Json& result : results) CHECK(result.at("peak_rss_bytes") <= kCap);
}

TEST_CASE("the commands capture, verify, profile and find where runs part") {
  const TempDir directory;
  directory.Write("tiny.toml", kTinyConfig);
  WriteTinyData(directory);
  const ProgramRun plan = Frugal(directory, "capture tiny.toml --steps 2 --plan");
  CHECK(plan.exit_code == 0);
  CHECK(plan.output.find("it would take") != std::string::npos);
  const ProgramRun capture = Frugal(directory, "capture tiny.toml --steps 2 --out taken");
  INFO(capture.errors);
  REQUIRE(capture.exit_code == 0);
  const ProgramRun verify = Frugal(directory, "verify taken");
  INFO(verify.output << verify.errors);
  CHECK(verify.exit_code == 0);
  CHECK(verify.output.find("linear_forward") != std::string::npos);
  const std::string profile = "profile taken --seconds 0.005 --rounds 1 ";
  const ProgramRun json = Frugal(directory, profile + "--json > old.json && true");
  CHECK(json.exit_code == 0);
  const Json times = Json::parse(ReadAll(directory.File("old.json"))).at("entries");
  REQUIRE(!times.empty());
  for (const Json& time : times) {
    CHECK(time.at("warm").at("median") > 0);
    CHECK(time.at("warm").at("samples") >= 20);
    CHECK(time.at("cold").at("median") > 0);
    CHECK(time.at("copy_limit") > 0);
  }
  const ProgramRun table = Frugal(directory, profile + "--baseline old.json");
  CHECK(table.output.find("bound by  to before") != std::string::npos);
  CHECK(Frugal(directory, profile + "--csv").output.starts_with("entry,operation,path"));
  CHECK(Frugal(directory, "diff-run tiny.toml tiny.toml --steps 2").exit_code == 0);
  const ProgramRun parts =
      Frugal(directory, "diff-run tiny.toml tiny.toml --set-b training.seed=2");
  CHECK(parts.exit_code == 1);
  CHECK(parts.errors.find("they part in step 1") != std::string::npos);
}

}  // namespace
}  // namespace frugal::testing
