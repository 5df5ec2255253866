#include "builders/execute/metric_set.h"

#include <utility>

#include "builders/setup/metric_rules.h"
#include "sdk/core/bfloat16.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

template <class T>
std::vector<float> Narrowed(std::span<const T> values) {
  std::vector<float> narrowed;
  narrowed.reserve(values.size());
  for (const T value : values) narrowed.push_back(static_cast<float>(value));
  return narrowed;
}

std::vector<float> FloatsOf(const Tensor& tensor) {
  if (tensor.dtype() == DType::kF64) return Narrowed<double>(tensor.values<double>());
  if (tensor.dtype() == DType::kBF16) return Narrowed<BFloat16>(tensor.values<BFloat16>());
  return Narrowed<float>(tensor.values<float>());
}

// Runs what is a metric's own; what it throws names the metric.
template <class Call>
auto Named(const std::string& name, const Call& call) {
  try {
    return call();
  } catch (Error& error) {
    error.Rename("metric " + name + ", " + error.diagnostic().where);
    throw;
  } catch (const std::exception& error) {
    throw UsageError({.where = "metric " + name,
                      .required = "a metric takes every batch and has a value",
                      .given = "it threw \"" + std::string(error.what()) + "\"",
                      .advice = "mend the metric, or leave it out of training.metrics"});
  }
}

}  // namespace

MetricSet::MetricSet(const TrainingSetup& setup) : ignore_index_(setup.config.loss.ignore_index) {
  const std::vector<std::string>& names = setup.config.training.metrics;
  std::vector<std::unique_ptr<Metric>> metrics = MakeMetrics(setup);
  for (std::size_t i = 0; i < names.size(); ++i) {
    entries_.push_back({names[i], std::move(metrics[i])});
  }
}

void MetricSet::Add(const Tensor& outputs, const Tensor& targets, double loss,
                    std::int64_t samples) {
  const std::vector<float> rows = FloatsOf(outputs);
  const bool labels = targets.dtype() == DType::kI64;
  const std::vector<float> values = labels ? std::vector<float>() : FloatsOf(targets);
  MetricBatch batch = {.outputs = rows,
                       .columns = outputs.shape().back(),
                       .targets = values,
                       .ignore_index = ignore_index_,
                       .loss = loss,
                       .count = samples};
  if (labels) batch.labels = targets.values<std::int64_t>();
  for (const Entry& entry : entries_) {
    Named(entry.name, [&] { entry.metric->Add(batch); });
  }
}

void MetricSet::Reset() {
  for (const Entry& entry : entries_) {
    Named(entry.name, [&] { entry.metric->Reset(); });
  }
}

std::vector<MetricValue> MetricSet::Values() const {
  std::vector<MetricValue> values;
  for (const Entry& entry : entries_) {
    values.push_back(Named(entry.name, [&] {
      return MetricValue{entry.name, entry.metric->Value(), entry.metric->Matrix()};
    }));
  }
  return values;
}

}  // namespace frugal
