#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builders/config/snapshot_options.h"
#include "builders/config/types/architecture.h"
#include "builders/config/types/layer_spec.h"
#include "layers/sequential.h"
#include "presets/config/origins.h"
#include "presets/training_memory_config.h"
#include "sdk/backend/backend.h"
#include "sdk/optim/optimizer.h"
#include "sdk/plan/pipeline_schedule.h"
#include "sdk/train/diffusion.h"
#include "sdk/train/divergence.h"
#include "sdk/train/loss.h"

namespace frugal {

// Makes a network anew: for the plan, for each device and for copies.
using NetworkMaker = std::function<std::unique_ptr<Sequential>()>;

struct ModelOptions {
  std::string name = "model";
  // With weights from a file: tensors that the file lacks start by their initializer, and tensors
  // that the model lacks are left out, e.g. to give a trained body a new head.
  bool allow_missing = false;
  // The network: a list of layers, a named architecture, or what a function of the program makes.
  std::vector<LayerSpec> layers;
  std::optional<ArchitectureConfig> architecture{};
  NetworkMaker network{};
};

// A data set by name, built in or registered, four IDX files of the user's own, or a text.
struct DataOptions {
  std::string dataset = "fashion-mnist";
  std::optional<std::string> text_file{};  // plain or gzipped; its bytes are the data
  std::int64_t sequence_length = 128;      // of a text: bytes of one sample
  double test_fraction = 0.1;              // of a text: the share at its end to test on
  std::optional<std::string> train_images{};
  std::optional<std::string> train_labels{};
  std::optional<std::string> test_images{};
  std::optional<std::string> test_labels{};
  std::optional<std::vector<std::int64_t>> sample_shape{};  // [H, W, C]
  std::optional<std::int64_t> train_count{};
  std::optional<std::int64_t> test_count{};
  std::optional<std::int64_t> classes{};
  // Only these classes of images are used, labelled 0, 1, ... in this order.
  std::optional<std::vector<std::int64_t>> classes_used{};
  double mean = 0;                            // of pixel values in [0, 1], subtracted
  double std = 1;                             // then divided by
  std::optional<std::int64_t> train_limit{};  // use only the first so many samples
  std::optional<std::int64_t> test_limit{};
  // The share at the end of the training part that is held out for evaluations during the training.
  double validation_fraction = 0;
  bool shuffle = true;
  OwnOptions options{};  // those of a registered data set alone; none: their defaults
};

// The precision is that of activations and products. With bf16, parameters and gradients are f32,
// as are sums, statistics and losses.
enum class Precision : std::uint8_t { kF32, kBF16, kF64, kF32x3 };
DType DTypeOf(Precision precision);
F32Products ProductsOf(Precision precision);

struct TrainingOptions {
  std::int64_t epochs = 1;
  std::int64_t batch_size = 64;
  std::int64_t evaluation_batch_size = 256;
  bool drop_last = true;  // leave out samples that do not fill a batch
  std::optional<std::int64_t> max_steps{};
  std::int64_t seed = 0;
  BackendKind backend = BackendKind::kOneDnn;
  Precision precision = Precision::kF32;
  std::int64_t threads = 0;                      // 0 = OMP_NUM_THREADS, else all cores
  double clip_gradient_norm = 0;                 // 0 = no clipping
  std::int64_t gradient_accumulation_steps = 1;  // micro-batches of a batch, one after the other
  // Rows of logits at a time where the loss runs the last projection itself; none: by their size.
  std::optional<std::int64_t> loss_chunk_rows{};
  bool evaluate = true;                          // on the test part after each epoch
  std::optional<std::int64_t> evaluate_every{};  // and behind every so many steps
  std::vector<std::string> metrics{};            // names in sdk/metrics, of evaluations
  std::string best_by = "loss";                  // what tells the best evaluation
  // Ends the training behind so many evaluations that are no better than the best one.
  std::optional<std::int64_t> patience{};
  // Parameters under these paths ("conv1", "layer1.0") stay as they are: no gradient, no optimizer
  // state; batch norms among them use their running statistics and leave them.
  std::vector<std::string> frozen{};
  DivergencePolicy on_divergence = DivergencePolicy::kStop;
};

// How a training on several devices (memory.num_devices) uses them.
struct ShardingOptions {
  // Replicas of the network, each on num_devices / data_parallel devices, which share every batch.
  std::int64_t data_parallel = 1;
  // Each replica alone holds, of its part of the parameters: 1, the optimizer's state; 2, the
  // gradients too; 3, the values too (ZeRO, arXiv 1910.02054).
  std::int64_t zero_stage = 0;
  // Gradients of fewer bytes are summed over replicas together with others, as many as fill it.
  std::int64_t bucket_kb = 1024;
  // Gradients are summed in so many groups of micro-batches, each on its own and then in order, as
  // replicas do; none stands for data_parallel. With one replica they come so to the bits of as
  // many replicas as there are groups.
  std::optional<std::int64_t> reduction_groups{};
  // The order of micro-batches with memory.use_pipeline_parallelism.
  PipelineKind schedule = PipelineKind::k1F1B;
};

struct OutputOptions {
  std::optional<std::string> weights{};  // written after training; .json and .bin by their form
  std::optional<std::string> best_weights{};  // those of the best evaluation, as soon as it was
  std::optional<std::string> log{};  // of steps and evaluations: .csv, else a JSON object a line
  std::optional<std::string> tensorboard{};    // a directory for a file of events
  std::optional<std::string> report{};         // HTML
  std::optional<std::string> memory_report{};  // a page, JSON or a trace: MemoryReportForm
  std::optional<std::string> summary{};        // JSON
};

// Everything a training is made from: what TOML files and fluent calls fill.
struct RunConfig {
  ModelOptions model;
  DataOptions data;
  LossOptions loss;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  TrainingOptions training;
  DiffusionOptions diffusion;
  ShardingOptions sharding;
  SnapshotOptions snapshots;
  OutputOptions output;
  TrainingMemoryConfig memory;
  Origins origins;  // of every value, by dotted name
};

// Returns the same training with weights that are made when they are first touched, for models that
// get theirs in another way.
RunConfig WithoutWeightsFile(RunConfig config);

// Returns what using the network takes of a training's configuration: the network, its data and
// loss, how it computes, and where memory comes from, on one device. Weights start at zero.
RunConfig ForInference(const RunConfig& training);

}  // namespace frugal
