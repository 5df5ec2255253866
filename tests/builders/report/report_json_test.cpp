#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "builders/report/json/plan_json.h"
#include "builders/report/json/summary_json.h"
#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using Json = nlohmann::json;

Json SummaryOf(const TrainingResult& result, const DataLayout& layout = {}) {
  PlannedTraining planned = SampleTraining();
  planned.layout = layout;
  return Json::parse(SummaryJson({planned, result}));
}

}  // namespace

TEST_CASE("A plan is written for programs") {
  const Json json = Json::parse(PlanJson(SampleTraining()));
  CHECK(json["model"] == "sample");
  CHECK(json["parameters"] == 1234567);
  CHECK(json["trainable_parameters"] == 1234000);
  CHECK(json["peak_bytes"] == 11072);
  CHECK(json["bytes_by_purpose"].size() == kMemoryTagCount);
  CHECK(json["bytes_by_purpose"]["activation"] == 8000);
  CHECK(json["bytes_by_purpose"]["communication"] == 0);
  CHECK(json["at_peak"]["data"] == 1024);
  CHECK(json["arena_bytes"] == 9000);
  CHECK(json["arena_kept_bytes"] == 9000);
  CHECK(json["live_lower_bound_bytes"] == 8000);
  CHECK(json["total_steps"] == 20);
  CHECK(json["step_flops"] == 4e9);
  CHECK(json["recomputed_flops"] == 1e9);
  CHECK(json["steps"][0]["kind"] == "train");
  CHECK(json["steps"][0]["peak_bytes"] == 11072);
  CHECK(json["layers"][0]["output"] == Json({32, 28, 28, 8}));
  CHECK(json["layers"][0]["segment"] == 0);
  CHECK(json["layers"][2]["segment"].is_null());
  CHECK(json["largest_holders"][0]["purpose"] == "activation");
  CHECK(json["notes"].size() == 1);
}

TEST_CASE("An empty plan and names that are not UTF-8 are valid JSON") {
  PlannedTraining empty;
  empty.backend = MakeBackend(BackendKind::kEigen);
  CHECK(Json::parse(PlanJson(empty))["steps"].empty());
  PlannedTraining planned = SampleTraining();
  planned.config.model.name = "bad \xFF \"name\"\n";
  CHECK(Json::parse(PlanJson(planned))["model"] == "bad \xEF\xBF\xBD \"name\"\n");
}

TEST_CASE("A summary holds what the training took") {
  const Json json = SummaryOf(SampleResult());
  CHECK(json["steps"] == 20);
  CHECK(json["seconds"] == 12.5);
  CHECK(json["test_accuracy"] == 0.875);
  CHECK(json["planned_bytes"]["peak"] == 11072);
  CHECK(json["planned_bytes"]["parameter"] == 2048);
  CHECK(json["measured_bytes"] == json["planned_bytes"]);
  CHECK(json["measured_bytes"].size() == kMemoryTagCount + 1);
  CHECK(json["allocations_after_warmup"] == 0);
  CHECK(json["peak_rss_bytes"] == 50 << 20);
  CHECK(json["weights_hash"] == "00ff00ff00ff00ff");
  CHECK(json["epochs"][1]["test_accuracy"] == 0.875);
  CHECK(json["tensor_pool"].is_null());
}

TEST_CASE("Losses read back bit for bit") {
  TrainingResult result = SampleResult();
  result.losses = {
      0.1, 1.0 / 3, 2, -0.0, 5e-324, 1.7976931348623157e308, std::nextafter(2.302585, 3)};
  const auto losses = SummaryOf(result)["losses"].get<std::vector<double>>();
  REQUIRE(losses.size() == result.losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CHECK(losses[i] == result.losses[i]);
    CHECK(std::signbit(losses[i]) == std::signbit(result.losses[i]));
  }
}

TEST_CASE("What is not finite or not measured is null") {
  TrainingResult result = SampleResult();
  result.losses = {std::numeric_limits<double>::quiet_NaN(),
                   -std::numeric_limits<double>::infinity(), 1};
  result.test_accuracy.reset();
  result.samples_per_second = std::numeric_limits<double>::infinity();
  const Json json = SummaryOf(result);
  CHECK(json["losses"] == Json({nullptr, nullptr, 1.0}));
  CHECK(json["test_accuracy"].is_null());
  CHECK(json["samples_per_second"].is_null());
  CHECK(SummaryOf(TrainingResult())["losses"].empty());
}

TEST_CASE("A summary of a text tells tokens and bits") {
  CHECK(SummaryOf(SampleResult())["tokens_per_second"].is_null());
  CHECK(SummaryOf(SampleResult())["test_bits_per_byte"].is_null());
  const DataLayout text = {.sample_shape = {10},
                           .classes = 256,
                           .target_shape = {},
                           .vocabulary = 256,
                           .label_shape = {10}};
  TrainingResult result = SampleResult();
  CHECK(SummaryOf(result, text)["tokens_per_second"] == 512.0);
  CHECK(SummaryOf(result, text)["test_bits_per_byte"] == 0.4 / std::log(2.0));
  result.test_loss.reset();
  CHECK(SummaryOf(result, text)["test_bits_per_byte"].is_null());
}

}  // namespace frugal
