#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/metrics/built_in_metrics.h"

namespace frugal {
namespace {

// A metric of outputs with a target each, whatever rows they stand in.
class TargetMetric : public Metric {
 public:
  explicit TargetMetric(std::string name) : name_(std::move(name)) {}

  // Throws ShapeError where there are not as many targets as outputs.
  void Add(const MetricBatch& batch) final {
    if (batch.outputs.size() != batch.targets.size()) {
      throw ShapeError({.where = "metric " + name_,
                        .required = "every output has a target",
                        .given = std::to_string(batch.outputs.size()) + " outputs came with " +
                                 std::to_string(batch.targets.size()) + " targets",
                        .advice = "use it for regression, or a metric of labels for classes"});
    }
    for (std::size_t i = 0; i < batch.outputs.size(); ++i) {
      ++count_;
      AddOne(batch.outputs[i], batch.targets[i]);
    }
  }
  double Value() const final {
    return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : ValueOfAll();
  }
  void Reset() final {
    count_ = 0;
    Clear();
  }

 protected:
  double count() const { return static_cast<double>(count_); }  // that of the new one included

 private:
  virtual void AddOne(double output, double target) = 0;
  virtual double ValueOfAll() const = 0;
  virtual void Clear() = 0;

  std::string name_;
  std::int64_t count_ = 0;
};

class MeanAbsoluteError : public TargetMetric {
 public:
  MeanAbsoluteError() : TargetMetric("mae") {}

 private:
  void AddOne(double output, double target) override { sum_ += std::abs(output - target); }
  double ValueOfAll() const override { return sum_ / count(); }
  void Clear() override { sum_ = 0; }

  double sum_ = 0;
};

class RootMeanSquaredError : public TargetMetric {
 public:
  RootMeanSquaredError() : TargetMetric("rmse") {}

 private:
  void AddOne(double output, double target) override {
    sum_ += (output - target) * (output - target);
  }
  double ValueOfAll() const override { return std::sqrt(sum_ / count()); }
  void Clear() override { sum_ = 0; }

  double sum_ = 0;
};

// 1 - (squares of errors) / (squares of the targets' distances from their mean), both summed. The
// latter are added up as the mean moves (Welford, 1962), which subtracts no large sums.
class R2 : public TargetMetric {
 public:
  R2() : TargetMetric("r2") {}

 private:
  void AddOne(double output, double target) override {
    errors_ += (output - target) * (output - target);
    const double from_old_mean = target - mean_;
    mean_ += from_old_mean / count();
    distances_ += from_old_mean * (target - mean_);
  }
  double ValueOfAll() const override {
    if (count() < 2) return std::numeric_limits<double>::quiet_NaN();
    if (distances_ == 0 && !std::isnan(errors_)) return errors_ == 0 ? 1 : 0;
    return 1 - errors_ / distances_;
  }
  void Clear() override { errors_ = mean_ = distances_ = 0; }

  double errors_ = 0;
  double mean_ = 0;
  double distances_ = 0;
};

template <class Kind>
MetricRow RowOf(const std::string& name, const std::string& doc, bool larger_is_better) {
  return {.name = name,
          .doc = doc + "; NaN where an output is",
          .of_labels = false,
          .larger_is_better = larger_is_better,
          .make = [](const MetricSetup&) { return std::make_unique<Kind>(); }};
}

}  // namespace

std::vector<MetricRow> RegressionMetricRows() {
  return {RowOf<MeanAbsoluteError>("mae", "mean of |output - target| over all numbers", false),
          RowOf<RootMeanSquaredError>(
              "rmse", "root of the mean of (output - target)^2 over all numbers", false),
          RowOf<R2>("r2",
                    "share of the targets' variance that the outputs explain, over all numbers "
                    "(scikit-learn's r2_score): of equal targets 1 without an error and 0 with "
                    "one; NaN of fewer than two",
                    true)};
}

}  // namespace frugal
