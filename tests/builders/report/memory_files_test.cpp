// Memory reports are written as JSON, Chrome traces and pages, and two of them are compared.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "builders/report/memory/chrome_trace.h"
#include "builders/report/memory/memory_diff.h"
#include "builders/report/memory/memory_file.h"
#include "builders/report/memory/memory_json.h"
#include "builders/report/memory/memory_page.h"
#include "builders/report/memory/memory_text.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

using Json = nlohmann::json;

// The report is that of a model that has trained, with a recorded step.
MemoryReport ReportOf(const std::string& network, std::int64_t devices = 1) {
  SmallRun run;
  run.network = network;
  run.max_steps = 3;
  run.memory.track_memory_statistics = true;
  run.memory.num_devices = devices;
  Model model = BuilderFor(run).Build();
  const TrainingResult result = model.Train();
  MemoryReport report = model.MemoryReport();
  report.model = "a <small> \"model\"";
  report.growth = {{1, 100, 1000}, {2, 100, 1100}};
  return report;
}

std::int64_t SumOf(const Json& shares) {
  std::int64_t sum = 0;
  for (const Json& share : shares) sum += share.at("bytes").get<std::int64_t>();
  return sum;
}

TEST_CASE("the JSON of a memory report adds up and has the allocators' names") {
  const Json json = Json::parse(MemoryJson(ReportOf("convnet")));
  const Json& device = json.at("devices").at(0);
  for (const char* which : {"planned", "measured"}) {
    const Json& step = device.at(which);
    const auto peak = step.at("peak_bytes").get<std::int64_t>();
    CHECK(SumOf(step.at("by_kind")) == peak);
    CHECK(SumOf(step.at("by_layer")) == peak);
    std::int64_t purposes = 0;
    for (const auto& [name, bytes] : step.at("by_purpose").items()) {
      purposes += bytes.get<std::int64_t>();
    }
    CHECK(purposes == peak);
    const Json& live = step.at("timeline").at("live_bytes");
    CHECK(*std::ranges::max_element(live) == peak);
  }
  const Json& allocator = device.at("now").at("allocator");
  for (const char* name :
       {"num_allocs", "bytes_in_use", "peak_bytes_in_use", "largest_alloc_size", "bytes_limit",
        "bytes_reserved", "peak_bytes_reserved", "largest_free_block_bytes", "pool_bytes",
        "peak_pool_bytes", "pool_hits", "pool_misses", "pool_evictions"}) {
    CHECK(allocator.contains(name));
  }
  CHECK(json.at("growth").size() == 2);
}

TEST_CASE("the JSON of a memory report is bounded") {
  const MemoryReport report = ReportOf("gpt2");
  const Json json = Json::parse(MemoryJson(report, {.most_tensors = 3, .most_events = 20}));
  const Json& step = json.at("devices").at(0).at("planned");
  CHECK(step.at("largest").size() == 3);
  CHECK(step.at("timeline").at("event").size() <= 21);
  CHECK(step.at("blocks").get<std::size_t>() ==
        report.devices.front().planned->memory.blocks.size());
}

// The Trace Event Format: what viewers require of each phase.
TEST_CASE("Chrome traces have complete events and counters, by rank") {
  const MemoryReport report = ReportOf("convnet", 2);
  const Json trace = Json::parse(MemoryChromeTrace(report));
  std::map<int, double> last_operation;
  std::map<int, std::int64_t> highest;
  std::set<std::string> names;
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    const int process = event.at("pid");
    CHECK(event.at("name").is_string());
    if (phase == "M") {
      if (event.at("name") == "process_name") names.insert(event.at("args").at("name"));
      continue;
    }
    CHECK(event.at("ts").get<double>() >= 0);
    if (phase == "X") {
      CHECK(event.at("dur").get<double>() >= 0);
      CHECK(event.at("ts").get<double>() >= last_operation[process]);
      last_operation[process] = event.at("ts");
    } else {
      REQUIRE(phase == "C");
      std::int64_t total = 0;
      for (const auto& [name, bytes] : event.at("args").items()) {
        total += bytes.get<std::int64_t>();
      }
      highest[process] = std::max(highest[process], total);
    }
  }
  CHECK(names.size() == 4);  // two ranks, planned and measured
  CHECK(highest.size() == 4);
  CHECK(highest.at(1) == report.devices[0].planned->memory.peak_bytes);
  CHECK(highest.at(2) == report.devices[0].measured->memory.peak_bytes);
  CHECK(highest.at(4) == report.devices[1].measured->memory.peak_bytes);
}

TEST_CASE("pages of memory reports are whole, escaped and without scripts from elsewhere") {
  const std::string page = MemoryPage(ReportOf("unet"));
  CHECK(page.starts_with("<!DOCTYPE html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(page.find("a &lt;small&gt; &quot;model&quot;") != std::string::npos);
  CHECK(page.find("<small> \"model\"") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("class=\"zoom map\"") != std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
  CHECK(page.size() < std::size_t{2} << 20);
}

TEST_CASE("texts of memory reports name the peak to the byte") {
  const MemoryReport report = ReportOf("mlp");
  const std::string text = MemoryText(report);
  CHECK(text.find("as planned: peak") != std::string::npos);
  CHECK(text.find("as measured: peak") != std::string::npos);
  CHECK(text.find("peak_bytes_in_use") != std::string::npos);
  CHECK(text.find("no growth") != std::string::npos);
}

TEST_CASE("what lies side by side at a peak follows the step of that peak") {
  MemoryReport report = ReportOf("mlp");
  DeviceReport& device = report.devices.front();
  device.planned_training = device.planned;
  device.planned->name = "evaluate step of 64";
  device.planned_training->name = "train step of 32";
  device.side_by_side = {{.label = "wide", .bytes = 4096, .count = 2}};
  for (const std::string& text : {MemoryText(report), MemoryPage(report)}) {
    const std::size_t evaluation = text.find("evaluate step of 64"), buffers = text.find("of wide");
    REQUIRE(buffers != std::string::npos);
    CHECK(evaluation < buffers);
    CHECK(buffers < text.find("train step of 32"));
  }
}

TEST_CASE("two memory reports differ by who grew") {
  const TempDir directory;
  const MemoryReport small = ReportOf("mlp"), large = ReportOf("gpt2");
  directory.Write("a.json", MemoryJson(small));
  const MemorySide a = ReadMemorySide(directory.File("a.json")), b = SideOf("b", large);
  CHECK(MemoryDiffText(a, SideOf("again", small)).find("no change of the peak") !=
        std::string::npos);
  const std::string text = MemoryDiffText(a, b);
  CHECK(text.find("as measured: +") != std::string::npos);
  CHECK(text.find("By layer") != std::string::npos);
  CHECK(MemoryDiffText(b, a).find("as measured: -") != std::string::npos);
}

TEST_CASE("files that are no memory reports are refused by name") {
  const TempDir directory;
  for (const char* text : {"", "{", "[]", "{\"form\": 3}", "{\"form\": \"frugal memory report 1\"}",
                           "{\"form\": \"frugal memory report 1\", \"devices\": [{}]}"}) {
    directory.Write("a.json", text);
    INFO(text);
    CHECK_THROWS_AS(ReadMemorySide(directory.File("a.json")), Error);
  }
  CHECK_THROWS_AS(MemoryFileFormOf("report.txt"), FileError);
  CHECK(MemoryFileFormOf("a.trace.json") == MemoryFileForm::kChromeTrace);
  CHECK(MemoryFileFormOf("a.json") == MemoryFileForm::kJson);
}

}  // namespace
}  // namespace frugal::testing
