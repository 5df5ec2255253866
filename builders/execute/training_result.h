#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sdk/autograd/profile.h"
#include "sdk/backend/machine/machine_limits.h"
#include "sdk/comm/traffic.h"
#include "sdk/core/memory_tag.h"
#include "sdk/data/data_source.h"
#include "sdk/memory/tensor_pool.h"
#include "sdk/memory/trace.h"
#include "sdk/plan/pipeline_simulation.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

// Holds what went to a page file and back.
struct PagingMeasurement {
  PagingTraffic step;         // of the last training step of a whole batch
  PagingTraffic total;        // of all steps
  double waited_seconds = 0;  // of several devices, which wait at the same time, the longest
};

// Holds what a training took, as measured.
struct MemoryMeasurement {
  BytesByTag peak_by_purpose;   // the largest live bytes of each purpose on its own
  std::int64_t peak_bytes = 0;  // of all together
  BytesByTag at_peak;
  std::int64_t arena_bytes = 0;
  std::int64_t allocations_after_warmup = 0;  // requests to the system from the second step on
  std::int64_t peak_rss_bytes = 0;            // of the whole process
  std::optional<PoolStatistics> pool;
  std::optional<PagingMeasurement> paging{};
  Traffic sent;  // of a device among several, in all training steps
  // With several devices, what each of them took; the rest is their sum.
  std::vector<MemoryMeasurement> devices{};
};

struct EpochResult {
  std::int64_t epoch = 0;  // from 1
  double mean_loss = 0;
  double seconds = 0;
  // They are of the validation part where there is one, else of the test part.
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;  // share in [0, 1]; with labels only
  bool is_validation = false;           // where they are from
};

// Tells where the time of a run went; only with track_memory_statistics.
struct LayerMeasurement {
  std::string label;
  double seconds = 0;
  double flops = 0;
  std::int64_t launches = 0;
  std::int64_t peak_live_bytes = 0;  // the most that was live while this layer took memory
};

// Kernels of one kind over the profiled steps.
struct OperationMeasurement {
  OperationKind kind = OperationKind::kMatmul;
  bool backward = false;
  KernelTotals totals;
};

// Tells where the time of training steps went, by kind of operation; without the first step, which
// makes primitives and touches memory, unless it is the only one.
struct OperationProfile {
  std::int64_t steps = 0;
  double seconds = 0;  // of these steps, kernels and all else
  DType dtype = DType::kF32;
  std::vector<OperationMeasurement> operations;  // most time first
  std::optional<MachineLimits> limits;           // where they were measured too
};

// A metric of an evaluation.
struct MetricValue {
  std::string name;
  double value = 0;                                 // NaN where no row was counted
  std::vector<std::vector<std::int64_t>> matrix{};  // of a confusion matrix
};

struct EvaluationResult {
  std::int64_t samples = 0;
  double loss = 0;                     // mean over the samples
  std::optional<double> accuracy;      // with labels only
  std::vector<MetricValue> metrics{};  // training.metrics, in their order
};

// An evaluation within a training.
struct Evaluation {
  std::int64_t step = 0;  // behind which it was
  EvaluationResult result;
  DatasetPart part = DatasetPart::kTest;
};

// The best evaluation of a training by one of its numbers.
struct BestResult {
  std::int64_t step = 0;
  std::string by;
  double value = 0;
};

// Tells what saving snapshots took of a training.
struct SnapshotCost {
  std::int64_t saved = 0;
  std::int64_t skipped = 0;  // since the one before was still being written
  double stall_seconds = 0;  // that the training waited
  double write_seconds = 0;  // of the thread that wrote
  double core_seconds = 0;   // of a core that it had for that
  std::int64_t bytes = 0;
};

// Holds what is live behind a step, and resident.
struct MemoryAfterStep {
  std::int64_t step = 0;
  std::int64_t live_bytes = 0;
  std::int64_t resident_bytes = 0;  // of the process
};

struct TrainingResult {
  std::int64_t steps = 0;
  double seconds = 0;
  double samples_per_second = 0;
  std::vector<double> losses;          // of each step
  std::vector<double> gradient_norms;  // before clipping; empty where nothing clips
  std::vector<EpochResult> epochs;
  std::vector<Evaluation> evaluations;     // at the ends of epochs and every evaluate_every steps
  std::optional<BestResult> best{};        // by training.best_by
  bool stopped_early = false;              // by training.patience, or by an observer
  bool interrupted = false;                // by an observer, as a signal does
  std::optional<EvaluationResult> test{};  // of the test part, behind the last step
  std::optional<double> test_loss;
  std::optional<double> test_accuracy;
  MemoryMeasurement memory;
  // Holds one step as it was measured, only with track_memory_statistics.
  std::optional<MemoryTimeline> measured_timeline;
  std::vector<LayerMeasurement> layers;
  // A memory report asks for these, behind at most some hundred of the steps.
  std::vector<MemoryAfterStep> growth{};
  std::optional<OperationProfile> profile;  // only with track_memory_statistics or a profile
  std::string weights_hash;                 // XXH3-64 over all weights and buffers, in order
  SnapshotCost snapshots{};
  // With several devices, when the slots of the last whole step worked.
  std::optional<PipelineTimes> pipeline{};
};

}  // namespace frugal
