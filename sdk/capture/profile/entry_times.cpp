#include "sdk/capture/profile/entry_times.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sdk/capture/capture_error.h"
#include "sdk/io/json_integer.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kOverheadShare = 0.1;  // of the nearer limit; below it neither bounds
constexpr double kLeastNoise = 0.03;

double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[above] * part;
}

Json StatisticsJson(const SampleStatistics& s) {
  return {{"samples", s.count},
          {"mean", s.mean},
          {"median", s.median},
          {"lower_quartile", s.lower_quartile},
          {"upper_quartile", s.upper_quartile},
          {"error_of_mean", s.error}};
}

SampleStatistics StatisticsFrom(const Json& json) {
  return {.count = JsonInteger(json.at("samples")),
          .mean = json.at("mean").get<double>(),
          .median = json.at("median").get<double>(),
          .lower_quartile = json.at("lower_quartile").get<double>(),
          .upper_quartile = json.at("upper_quartile").get<double>(),
          .error = json.at("error_of_mean").get<double>()};
}

Json JsonOf(const EntryTime& time) {
  return {{"entry", time.entry},
          {"operation", time.operation},
          {"path", time.path},
          {"backward", time.backward},
          {"shapes", time.shapes},
          {"backend", time.backend},
          {"like_it", time.like_it},
          {"status", NameOf(time.status)},
          {"reason", time.reason},
          {"warm", StatisticsJson(time.warm)},
          {"cold", StatisticsJson(time.cold)},
          {"flops", time.flops},
          {"bytes", time.bytes},
          {"flops_per_second", time.FlopsPerSecond()},
          {"bytes_per_second", time.BytesPerSecond()},
          {"product_limit", time.product_limit},
          {"copy_limit", time.copy_limit},
          {"product_share", time.ProductShare()},
          {"copy_share", time.CopyShare()},
          {"bound_by", NameOf(time.bound())},
          {"before_ratio", time.before_ratio},
          {"noise", time.noise}};
}

EntryTime TimeFrom(const Json& json) {
  EntryTime time;
  time.entry = JsonInteger(json.at("entry"));
  time.operation = json.at("operation").get<std::string>();
  time.path = json.at("path").get<std::string>();
  time.backward = json.at("backward").get<bool>();
  time.shapes = json.at("shapes").get<std::string>();
  time.backend = json.at("backend").get<std::string>();
  time.like_it = JsonInteger(json.at("like_it"));
  time.status = StatusNamed(json.at("status").get<std::string>());
  time.reason = json.at("reason").get<std::string>();
  time.warm = StatisticsFrom(json.at("warm"));
  time.cold = StatisticsFrom(json.at("cold"));
  time.flops = json.at("flops").get<double>();
  time.bytes = json.at("bytes").get<double>();
  time.product_limit = json.at("product_limit").get<double>();
  time.copy_limit = json.at("copy_limit").get<double>();
  time.before_ratio = json.at("before_ratio").get<double>();
  time.noise = json.at("noise").get<double>();
  return time;
}

template <class Read>
auto Parse(const std::string& text, const std::string& where, const Read& read) {
  try {
    return read(Json::parse(text));
  } catch (const std::exception& error) {
    throw CaptureError({.where = where,
                        .required = "a profile as frugal profile --json prints it",
                        .given = error.what(),
                        .advice = "profile again"});
  }
}

// Returns how far the machine itself was from what it was before, by its best product and copy.
double DriftOf(const EntryTime& before, const EntryTime& now) {
  const auto drift = [](double a, double b) { return a > 0 && b > 0 ? std::abs(a / b - 1) : 0; };
  return std::max(drift(before.product_limit, now.product_limit),
                  drift(before.copy_limit, now.copy_limit));
}

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

SampleStatistics StatisticsOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  const auto count = static_cast<double>(samples.size());
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  const double deviation = samples.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return {.count = std::ssize(samples),
          .mean = mean,
          .median = Quantile(samples, 0.5),
          .lower_quartile = Quantile(samples, 0.25),
          .upper_quartile = Quantile(samples, 0.75),
          .error = mean > 0 ? deviation / std::sqrt(count) / mean : 0};
}

std::string_view NameOf(TimeBound bound) {
  constexpr std::string_view kNames[] = {"products", "memory", "caches", "overhead"};
  return kNames[static_cast<std::size_t>(bound)];
}

TimeBound EntryTime::bound() const {
  const double products = ProductShare(), memory = CopyShare();
  if (std::max(products, memory) < kOverheadShare) return TimeBound::kOverhead;
  if (products > memory) return TimeBound::kProducts;
  return memory > 1 ? TimeBound::kCaches : TimeBound::kMemory;
}

std::string ToJson(const EntryTime& time) { return Dump(JsonOf(time), -1); }

EntryTime TimeFromJson(const std::string& text, const std::string& where) {
  return Parse(text, where, TimeFrom);
}

std::string ProfileJson(const std::vector<EntryTime>& times, const std::string& policy) {
  Json json = {{"frugal_profile", 1}, {"policy", policy}, {"entries", Json::array()}};
  for (const EntryTime& time : times) json["entries"].push_back(JsonOf(time));
  return Dump(json, 2);
}

std::vector<EntryTime> ProfileFromJson(const std::string& text, const std::string& where) {
  return Parse(text, where, [](const Json& json) {
    if (json.at("frugal_profile") != 1) throw std::invalid_argument("another form");
    std::vector<EntryTime> times;
    for (const Json& entry : json.at("entries")) times.push_back(TimeFrom(entry));
    return times;
  });
}

std::string ProfileCsv(const std::vector<EntryTime>& times) {
  std::string text =
      "entry,operation,path,backward,shapes,backend,like_it,status,samples,median_s,"
      "lower_quartile_s,upper_quartile_s,error_of_mean,cold_median_s,gflop_per_s,gb_per_s,"
      "product_share,copy_share,bound_by,before_ratio,noise\n";
  for (const EntryTime& t : times) {
    char numbers[400];
    std::snprintf(numbers, sizeof numbers, "%lld,%.9g,%.9g,%.9g,%.4g,%.9g,%.6g,%.6g,%.4g,%.4g,",
                  static_cast<long long>(t.warm.count), t.warm.median, t.warm.lower_quartile,
                  t.warm.upper_quartile, t.warm.error, t.cold.median, t.FlopsPerSecond() / 1e9,
                  t.BytesPerSecond() / 1e9, t.ProductShare(), t.CopyShare());
    char end[80];
    std::snprintf(end, sizeof end, ",%.4g,%.4g\n", t.before_ratio, t.noise);
    text += std::to_string(t.entry) + "," + t.operation + "," + Quoted(t.path) + "," +
            (t.backward ? "1" : "0") + "," + Quoted(t.shapes) + "," + t.backend + "," +
            std::to_string(t.like_it) + "," + std::string(NameOf(t.status)) + "," + numbers +
            std::string(NameOf(t.bound())) + end;
  }
  return text;
}

void CompareWith(const std::vector<EntryTime>& before, std::vector<EntryTime>& times) {
  for (EntryTime& time : times) {
    for (const EntryTime& old : before) {
      if (old.entry != time.entry || old.operation != time.operation ||
          old.backend != time.backend || old.warm.median <= 0) {
        continue;
      }
      time.before_ratio = time.warm.median / old.warm.median;
      time.noise = DriftOf(old, time) +
                   std::max({kLeastNoise, 3 * std::hypot(old.warm.error, time.warm.error),
                             (old.warm.Spread() + time.warm.Spread()) / 2});
    }
  }
}

}  // namespace frugal
