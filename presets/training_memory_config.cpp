#include "presets/training_memory_config.h"

#include "presets/memory_presets.h"

namespace frugal {

TrainingMemoryConfig TrainingMemoryConfig::Default() { return PresetByName("Default"); }

TrainingMemoryConfig TrainingMemoryConfig::MemoryEfficient() {
  return PresetByName("MemoryEfficient");
}

TrainingMemoryConfig TrainingMemoryConfig::SpeedOptimized() {
  return PresetByName("SpeedOptimized");
}

TrainingMemoryConfig TrainingMemoryConfig::MultiGpu(std::int64_t num_devices) {
  return PresetByName("MultiGpu", {.num_devices = num_devices});
}

TrainingMemoryConfig TrainingMemoryConfig::ForTransformers() {
  return PresetByName("ForTransformers");
}

TrainingMemoryConfig TrainingMemoryConfig::ForConvNets() { return PresetByName("ForConvNets"); }

TrainingMemoryConfig TrainingMemoryConfig::ForTransferLearning(const std::string& weights_file_path,
                                                               WeightsFormat format) {
  return PresetByName("ForTransferLearning",
                      {.weights_file_path = weights_file_path, .weights_file_format = format});
}

TrainingMemoryConfig TrainingMemoryConfig::FastConstruction() {
  return PresetByName("FastConstruction");
}

TrainingMemoryConfig TrainingMemoryConfig::AggressivePooling(std::int64_t max_pool_memory_mb) {
  return PresetByName("AggressivePooling", {.max_pool_memory_mb = max_pool_memory_mb});
}

}  // namespace frugal
