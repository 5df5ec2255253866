#pragma once

#include "tests/catch.h"
#include "tests/support/compare_trained.h"

// Small trainings on meshes of devices.
namespace frugal::testing {

inline SmallRun RunOf(const std::string& network) {
  SmallRun run;
  run.network = network;
  run.batch = 8;
  run.max_steps = 3;
  run.threads = 1;
  return run;
}

// A way to run the same training.
struct Mesh {
  std::int64_t devices = 1;
  std::int64_t micro_batches = 1;
  bool pipelined = false;
  PipelineKind schedule = PipelineKind::k1F1B;
  ShardingStrategy strategy = ShardingStrategy::kEvenSplit;
  bool checkpointing = false;
  std::int64_t replicas = 1;
  std::int64_t groups = 1;  // of one replica
  std::int64_t zero_stage = 0;
  std::int64_t bucket_kb = 1024;
};

inline SmallRun On(const Mesh& mesh, SmallRun run) {
  run.memory.num_devices = mesh.devices;
  run.memory.use_pipeline_parallelism = mesh.pipelined;
  run.memory.sharding_strategy = mesh.strategy;
  run.memory.use_gradient_checkpointing = mesh.checkpointing;
  if (mesh.pipelined) {
    run.memory.micro_batch_count = mesh.micro_batches;
  } else {
    run.accumulate = mesh.micro_batches;
  }
  run.sharding = {.data_parallel = mesh.replicas, .schedule = mesh.schedule};
  run.sharding.zero_stage = mesh.zero_stage;
  run.sharding.bucket_kb = mesh.bucket_kb;
  if (mesh.groups > 1) run.sharding.reduction_groups = mesh.groups;
  return run;
}

inline std::string Describe(const Mesh& mesh) {
  return std::to_string(mesh.devices) + " devices, " + std::to_string(mesh.replicas) +
         " replicas, " + std::to_string(mesh.micro_batches) + " micro-batches, " +
         (mesh.pipelined ? std::string(NameOf(mesh.schedule)) : "one after the other") +
         (mesh.strategy == ShardingStrategy::kEvenSplit ? ", even" : ", balanced") +
         (mesh.checkpointing ? ", checkpointed" : "") + ", ZeRO " +
         std::to_string(mesh.zero_stage) + ", buckets of " + std::to_string(mesh.bucket_kb) + " KB";
}

inline void CheckDevices(const Model& model, const TrainingResult& result) {
  const auto& devices = model.planned().devices;
  REQUIRE(result.memory.devices.size() == devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    INFO("device " << i);
    const Plan& plan = devices[i].plan;
    const MemoryMeasurement& measured = result.memory.devices[i];
    CHECK(plan.peak_bytes == measured.peak_bytes);
    for (const MemoryTag tag : kAllMemoryTags) {
      INFO("purpose " << NameOf(tag));
      CHECK(plan.peak_by_purpose[tag] == measured.peak_by_purpose[tag]);
      CHECK(plan.at_peak[tag] == measured.at_peak[tag]);
    }
  }
}

// Trains and returns what was computed; on the way, checks the plan of every device.
inline Trained TrainOn(const Mesh& mesh, const SmallRun& run) {
  Model model = BuilderFor(On(mesh, run)).Build();
  Trained trained = Train(model);
  if (mesh.devices > 1) CheckDevices(model, trained.result);
  return trained;
}

// The same, with what it sends: an evaluation would send more.
inline Trained TrainAndCheckTraffic(const Mesh& mesh, const SmallRun& run) {
  Model model = BuilderFor(On(mesh, run)).Override({"training.evaluate=false"}).Build();
  Trained trained = Train(model);
  CheckDevices(model, trained.result);
  for (std::size_t i = 0; i < trained.result.memory.devices.size(); ++i) {
    INFO("device " << i);
    const Traffic sent = model.plan().devices->devices[i].sent.Total();
    CHECK(trained.result.memory.devices[i].sent.bytes == trained.result.steps * sent.bytes);
    CHECK(trained.result.memory.devices[i].sent.messages == trained.result.steps * sent.messages);
  }
  return trained;
}

// Stages of this network share a weight.
inline bool SharesWeights(const std::string& network) { return network == "gpt2"; }

}  // namespace frugal::testing
