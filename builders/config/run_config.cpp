#include "builders/config/run_config.h"

namespace frugal {

DType DTypeOf(Precision precision) {
  if (precision == Precision::kF64) return DType::kF64;
  return precision == Precision::kBF16 ? DType::kBF16 : DType::kF32;
}

F32Products ProductsOf(Precision precision) {
  return precision == Precision::kF32x3 ? F32Products::kSplit : F32Products::kExact;
}

RunConfig WithoutWeightsFile(RunConfig config) {
  config.memory.default_initialization_strategy = InitializationStrategy::kLazy;
  config.memory.weights_file_path.reset();
  config.memory.weights_file_format = WeightsFormat::kAuto;
  config.model.allow_missing = false;
  return config;
}

namespace {

TrainingMemoryConfig MemoryForInference(const TrainingMemoryConfig& training) {
  TrainingMemoryConfig memory;
  memory.use_activation_pooling = training.use_activation_pooling;
  memory.max_pool_memory_mb = training.max_pool_memory_mb;
  memory.max_memory_per_device_mb = training.max_memory_per_device_mb;
  memory.memory_warning_threshold = training.memory_warning_threshold;
  memory.use_tensor_pooling = training.use_tensor_pooling;
  memory.tensor_pool_options = training.tensor_pool_options;
  memory.use_shared_tensor_pool = training.use_shared_tensor_pool;
  memory.default_initialization_strategy = InitializationStrategy::kZero;
  return memory;
}

}  // namespace

RunConfig ForInference(const RunConfig& training) {
  RunConfig use;
  use.model = training.model;
  use.model.allow_missing = false;
  use.data = training.data;
  use.loss = training.loss;
  use.diffusion = training.diffusion;
  use.training.evaluation_batch_size = training.training.evaluation_batch_size;
  use.training.seed = training.training.seed;
  use.training.backend = training.training.backend;
  use.training.precision = training.training.precision;
  use.training.threads = training.training.threads;
  use.training.metrics = training.training.metrics;
  use.training.on_divergence = training.training.on_divergence;
  use.memory = MemoryForInference(training.memory);
  if (use.loss.kind != LossOptions().kind) use.origins.Set("loss.kind", Origin::Code());
  return use;
}

}  // namespace frugal
