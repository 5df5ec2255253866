#include "builders/config/run_config.h"

namespace frugal {

DType DTypeOf(Precision precision) {
  if (precision == Precision::kF64) return DType::kF64;
  return precision == Precision::kBF16 ? DType::kBF16 : DType::kF32;
}

RunConfig WithoutWeightsFile(RunConfig config) {
  config.memory.default_initialization_strategy = InitializationStrategy::kLazy;
  config.memory.weights_file_path.reset();
  config.memory.weights_file_format = WeightsFormat::kAuto;
  config.model.allow_missing = false;
  return config;
}

}  // namespace frugal
