#include "sdk/capture/verify/entry_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sdk/capture/capture_error.h"
#include "sdk/io/json_integer.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kStatusNames =
    std::to_array<std::string_view>({"passed", "cannot tell", "skipped", "failed", "error",
                                     "crashed", "took too long", "too large"});

// JSON has no infinite numbers.
Json Number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? Json("nan") : Json(value > 0 ? "inf" : "-inf");
}
double NumberFrom(const Json& json) {
  return json.is_number() ? json.get<double>() : std::stod(json.get<std::string>());
}

Json MeasureJson(const ErrorMeasure& m) {
  return {{"largest", Number(m.largest)},
          {"scale", Number(m.scale)},
          {"relative", Number(m.relative())},
          {"rms", Number(m.rms())},
          {"squares", Number(m.squares)},
          {"wanted_squares", Number(m.wanted_squares)},
          {"ulp", m.ulp},
          {"not_finite", m.not_finite},
          {"same_bits", m.same_bits},
          {"count", m.count}};
}

ErrorMeasure MeasureFrom(const Json& json) {
  ErrorMeasure m;
  m.largest = NumberFrom(json.at("largest"));
  m.scale = NumberFrom(json.at("scale"));
  m.squares = NumberFrom(json.at("squares"));
  m.wanted_squares = NumberFrom(json.at("wanted_squares"));
  m.ulp = JsonInteger(json.at("ulp"));
  m.not_finite = JsonInteger(json.at("not_finite"));
  m.same_bits = json.at("same_bits").get<bool>();
  m.count = JsonInteger(json.at("count"));
  return m;
}

Json OutputJson(const EntryOutput& output) {
  return {{"name", output.name},
          {"allowed", Number(output.allowed)},
          {"to_recorded", MeasureJson(output.to_recorded)},
          {"to_f64", MeasureJson(output.to_f64)},
          {"recorded_to_f64", MeasureJson(output.recorded_to_f64)},
          {"blind", output.blind}};
}

EntryOutput OutputFrom(const Json& json) {
  return {.name = json.at("name").get<std::string>(),
          .to_recorded = MeasureFrom(json.at("to_recorded")),
          .to_f64 = MeasureFrom(json.at("to_f64")),
          .recorded_to_f64 = MeasureFrom(json.at("recorded_to_f64")),
          .allowed = NumberFrom(json.at("allowed")),
          .blind = json.at("blind").get<std::vector<std::string>>()};
}

}  // namespace

std::string_view NameOf(EntryStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

EntryStatus StatusNamed(std::string_view name) {
  const auto found = std::ranges::find(kStatusNames, name);
  if (found == kStatusNames.end()) throw std::invalid_argument("status " + std::string(name));
  return static_cast<EntryStatus>(found - kStatusNames.begin());
}

bool IsBad(EntryStatus status) { return status >= EntryStatus::kFailed; }

double EntryResult::relative() const {
  double largest = 0;
  for (const EntryOutput& output : outputs) {
    largest = std::max(largest, output.to_recorded.relative());
  }
  return largest;
}

std::int64_t EntryResult::ulp() const {
  std::int64_t largest = 0;
  for (const EntryOutput& output : outputs) largest = std::max(largest, output.to_recorded.ulp);
  return largest;
}

bool EntryResult::same_bits() const {
  return !outputs.empty() && std::ranges::all_of(outputs, [](const EntryOutput& output) {
    return output.to_recorded.same_bits;
  });
}

std::string ToJson(const EntryResult& result) {
  Json json = {{"entry", result.entry},
               {"operation", result.operation},
               {"path", result.path},
               {"backward", result.backward},
               {"backend", result.backend},
               {"precision", result.precision},
               {"status", NameOf(result.status)},
               {"reason", result.reason},
               {"tensor_bytes", result.tensor_bytes},
               {"slices", result.slices},
               {"null_tests", result.null_tests},
               {"seconds", result.seconds},
               {"peak_rss_bytes", result.peak_rss_bytes}};
  json["outputs"] = Json::array();
  for (const EntryOutput& output : result.outputs) json["outputs"].push_back(OutputJson(output));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

EntryResult ResultFromJson(const std::string& text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    EntryResult result;
    result.entry = JsonInteger(json.at("entry"));
    result.operation = json.at("operation").get<std::string>();
    result.path = json.at("path").get<std::string>();
    result.backward = json.at("backward").get<bool>();
    result.backend = json.at("backend").get<std::string>();
    result.precision = json.at("precision").get<std::string>();
    result.status = StatusNamed(json.at("status").get<std::string>());
    result.reason = json.at("reason").get<std::string>();
    result.tensor_bytes = JsonInteger(json.at("tensor_bytes"));
    result.slices = JsonInteger(json.at("slices"));
    result.null_tests = JsonInteger(json.at("null_tests"));
    result.seconds = json.at("seconds").get<double>();
    result.peak_rss_bytes = JsonInteger(json.at("peak_rss_bytes"));
    for (const Json& output : json.at("outputs")) result.outputs.push_back(OutputFrom(output));
    return result;
  } catch (const std::exception& error) {
    throw CaptureError({.where = where,
                        .required = "a line of results",
                        .given = error.what(),
                        .advice = "remove the file, and verify without --resume"});
  }
}

}  // namespace frugal
