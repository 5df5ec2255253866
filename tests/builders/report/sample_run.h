#pragma once

// A made-up network of three layers with its plan and the result of a training.

#include "builders/execute/training_result.h"
#include "builders/plan/planned_training.h"

namespace frugal {

inline BytesByTag BytesOf(std::int64_t parameter, std::int64_t activation, std::int64_t data) {
  BytesByTag bytes;
  bytes[MemoryTag::kParameter] = parameter;
  bytes[MemoryTag::kActivation] = activation;
  bytes[MemoryTag::kData] = data;
  return bytes;
}

inline StepPlan SampleStep() {
  StepPlan step;
  step.kind = StepKind::kTrain;
  step.batch = 32;
  step.layout.arena_bytes = 9000;
  step.layout.lower_bound_bytes = 8000;
  step.flops = 4e9;
  step.recomputed_flops = 1e9;
  step.baseline = BytesOf(2048, 0, 1024);
  step.timeline.live = {BytesOf(0, 3000, 0), BytesOf(0, 8000, 0), BytesOf(0, 3000, 0),
                        BytesByTag()};
  step.timeline.peak_event = 1;
  step.timeline.holders_at_peak = {{"conv1", MemoryTag::kActivation, 5000},
                                   {"block.0", MemoryTag::kActivation, 3000}};
  return step;
}

inline Plan SamplePlan() {
  Plan plan;
  plan.parameter_count = 1234567;
  plan.trainable_count = 1234000;
  plan.total_steps = 20;
  plan.peak_by_purpose = BytesOf(2048, 8000, 1024);
  plan.peak_bytes = 11072;
  plan.at_peak = BytesOf(2048, 8000, 1024);
  plan.arena_bytes = 9000;
  plan.live_lower_bound_bytes = 8000;
  plan.arena_kept_bytes = 9000;
  plan.steps = {SampleStep()};
  plan.layers = {{"conv1", "conv2d 1 -> 8, 3x3", {32, 28, 28, 8}, 80, 5000, 0},
                 {"block", "residual around 2 layers", {32, 28, 28, 8}, 1234487, 3000, 0},
                 {"flatten", "flatten", {32, 6272}, 0, 0, -1}};
  plan.largest_holders = {{"conv1", MemoryTag::kActivation, 5000},
                          {"all parameter", MemoryTag::kParameter, 2048}};
  return plan;
}

inline PlannedTraining SampleTraining() {
  PlannedTraining planned;
  planned.config.model.name = "sample";
  planned.config.training.epochs = 2;
  planned.config.training.threads = 3;
  planned.config.memory.use_gradient_checkpointing = true;
  planned.config.memory.sharding_strategy = ShardingStrategy::kMemoryBalanced;  // is noted
  planned.backend = MakeBackend(BackendKind::kEigen);
  planned.schedule = {.train_samples = 320,
                      .test_samples = 64,
                      .batch = 32,
                      .evaluation_batch = 64,
                      .drop_last = true,
                      .steps_per_epoch = 10,
                      .total_steps = 20};
  planned.plan = SamplePlan();
  return planned;
}

inline TrainingResult SampleResult() {
  TrainingResult result;
  result.steps = 20;
  result.seconds = 12.5;
  result.samples_per_second = 51.2;
  for (int i = 0; i < 20; ++i) result.losses.push_back(2.0 / (1 + i));
  result.epochs = {{1, 0.58, 6, 0.5, 0.8}, {2, 0.13, 6.5, 0.4, 0.875}};
  result.test_loss = 0.4;
  result.test_accuracy = 0.875;
  result.memory.peak_by_purpose = BytesOf(2048, 8000, 1024);
  result.memory.peak_bytes = 11072;
  result.memory.at_peak = BytesOf(2048, 8000, 1024);
  result.memory.arena_bytes = 12288;
  result.memory.peak_rss_bytes = 50 << 20;
  result.weights_hash = "00ff00ff00ff00ff";
  return result;
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace frugal
