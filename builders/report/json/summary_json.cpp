#include "builders/report/json/summary_json.h"

#include <nlohmann/json.hpp>

#include "builders/report/json/named_bytes.h"
#include "builders/report/rows/data_units.h"
#include "builders/report/rows/operation_rows.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json BytesJson(const BytesByTag& by_purpose, std::int64_t peak) {
  Json json = NamedBytes(by_purpose);
  json["peak"] = peak;
  return json;
}

Json DevicesJson(const ReportData& data) {
  const std::vector<MemoryMeasurement>& measured = data.result.memory.devices;
  if (measured.empty()) return nullptr;
  Json list = Json::array();
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const Plan& plan = data.planned.devices[i].plan;
    list.push_back(
        {{"planned_bytes", BytesJson(plan.peak_by_purpose, plan.peak_bytes)},
         {"measured_bytes", BytesJson(measured[i].peak_by_purpose, measured[i].peak_bytes)},
         {"sent_bytes", measured[i].sent.bytes},
         {"sent_messages", measured[i].sent.messages}});
  }
  return list;
}

Json EpochsJson(const std::vector<EpochResult>& epochs) {
  Json list = Json::array();
  for (const EpochResult& epoch : epochs) {
    list.push_back({{"epoch", epoch.epoch},
                    {"mean_loss", epoch.mean_loss},
                    {"seconds", epoch.seconds},
                    {"test_loss", OrNull(epoch.test_loss)},
                    {"test_accuracy", OrNull(epoch.test_accuracy)}});
  }
  return list;
}

Json PoolJson(const std::optional<PoolStatistics>& pool) {
  if (!pool) return {};
  return {{"hits", pool->hits},
          {"misses", pool->misses},
          {"evictions", pool->evictions},
          {"live_bytes", pool->live_bytes},
          {"idle_bytes", pool->idle_bytes}};
}

Json PagingJson(const std::optional<PagingMeasurement>& paging) {
  if (!paging) return {};
  return {{"step_read_bytes", paging->step.in_bytes},
          {"step_written_bytes", paging->step.out_bytes},
          {"read_bytes", paging->total.in_bytes},
          {"written_bytes", paging->total.out_bytes},
          {"waited_seconds", paging->waited_seconds}};
}

Json TokenRateJson(const ReportData& data) {
  if (data.layout().vocabulary == 0) return {};
  return data.result.samples_per_second *
         UnitsOf(data.layout(), data.config().loss).rated_per_sample;
}

Json BitsJson(const ReportData& data) {
  if (!data.result.test_loss || !UnitsOf(data.layout(), data.config().loss).bits_per_byte)
    return {};
  return BitsOf(*data.result.test_loss);
}

Json PositiveOrNull(double value) { return value > 0 ? Json(value) : Json(); }

Json OperationsJson(const std::optional<OperationProfile>& profile) {
  if (!profile) return {};
  Json kinds = Json::array();
  for (const OperationRow& row : OperationRows(*profile)) {
    kinds.push_back({{"operation", row.name},
                     {"calls_per_step", row.calls},
                     {"ms_per_step", row.milliseconds},
                     {"share_of_time", row.share},
                     {"gflops", PositiveOrNull(row.gflops)},
                     {"share_of_product_limit", PositiveOrNull(row.product_share)},
                     {"gbytes_per_second", PositiveOrNull(row.gbytes)},
                     {"share_of_copy_limit", PositiveOrNull(row.copy_share)}});
  }
  const MachineLimits limits = profile->limits.value_or(MachineLimits());
  return {{"steps", profile->steps},
          {"product_limit_gflops", PositiveOrNull(limits.ProductOf(profile->dtype) / 1e9)},
          {"copy_limit_gbytes_per_second", PositiveOrNull(limits.copy / 1e9)},
          {"ms_per_step_at_limits", PositiveOrNull(1e3 * SecondsAtLimits(*profile).value_or(0))},
          {"kinds", kinds}};
}

Json EvaluationsJson(const std::vector<Evaluation>& evaluations) {
  Json list = Json::array();
  for (const auto& [step, result, part] : evaluations) {
    Json metrics = Json::object();
    for (const MetricValue& metric : result.metrics) {
      metrics[metric.name] = metric.matrix.empty() ? Json(metric.value) : Json(metric.matrix);
    }
    list.push_back({{"step", step},
                    {"loss", result.loss},
                    {"accuracy", OrNull(result.accuracy)},
                    {"metrics", metrics},
                    {"part", NameOf(part)}});
  }
  return list;
}

Json BestJson(const std::optional<BestResult>& best) {
  if (!best) return {};
  return {{"step", best->step}, {"by", best->by}, {"value", best->value}};
}

}  // namespace

std::string SummaryJson(const ReportData& data) {
  const RunConfig& config = data.config();
  const Plan& plan = data.plan();
  const TrainingResult& result = data.result;
  const MemoryMeasurement& memory = result.memory;
  // The library writes doubles in the shortest form that reads back as the same, NaN as null.
  const Json json = {{"model", config.model.name},
                     {"seed", config.training.seed},
                     {"parameters", plan.parameter_count},
                     {"steps", result.steps},
                     {"seconds", result.seconds},
                     {"samples_per_second", result.samples_per_second},
                     {"tokens_per_second", TokenRateJson(data)},
                     {"test_loss", OrNull(result.test_loss)},
                     {"test_accuracy", OrNull(result.test_accuracy)},
                     {"test_bits_per_byte", BitsJson(data)},
                     {"weights_hash", result.weights_hash},
                     {"planned_bytes", BytesJson(plan.peak_by_purpose, plan.peak_bytes)},
                     {"measured_bytes", BytesJson(memory.peak_by_purpose, memory.peak_bytes)},
                     {"planned_arena_bytes", plan.arena_bytes},
                     {"measured_arena_bytes", memory.arena_bytes},
                     {"devices", DevicesJson(data)},
                     {"allocations_after_warmup", memory.allocations_after_warmup},
                     {"peak_rss_bytes", memory.peak_rss_bytes},
                     {"tensor_pool", PoolJson(memory.pool)},
                     {"paging", PagingJson(memory.paging)},
                     {"operations", OperationsJson(result.profile)},
                     {"epochs", EpochsJson(result.epochs)},
                     {"evaluations", EvaluationsJson(result.evaluations)},
                     {"best", BestJson(result.best)},
                     {"stopped_early", result.stopped_early},
                     {"losses", result.losses},
                     {"gradient_norms", result.gradient_norms}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frugal
