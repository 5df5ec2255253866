#include "builders/setup/step_settings.h"

#include "builders/setup/paging.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

template <class T>
void Choose(T& field, const T& value, const char* key, RunConfig& config) {
  if (field == value) return;
  field = value;
  config.origins.Set(key, Origin::Planner());
}

}  // namespace

StepSettings SettingsOf(const RunConfig& config) {
  return {.optimizer_in_backward = config.memory.optimizer_in_backward,
          .micro_batches = config.training.gradient_accumulation_steps,
          .evaluation_batch = config.training.evaluation_batch_size,
          .loss_chunk_rows = config.training.loss_chunk_rows,
          .use_gradient_checkpointing = config.memory.use_gradient_checkpointing,
          .paged = PagedKindsOf(config.memory),
          .paged_activation_bytes = PagedActivationBytesOf(config.memory),
          .page_buffer_bytes = PageBufferBytesOf(config.memory)};
}

RunConfig WithSettings(RunConfig config, const StepSettings& settings) {
  Choose(config.memory.use_gradient_checkpointing, settings.use_gradient_checkpointing,
         "memory.use_gradient_checkpointing", config);
  Choose(config.memory.optimizer_in_backward, settings.optimizer_in_backward,
         "memory.optimizer_in_backward", config);
  Choose(config.training.gradient_accumulation_steps, settings.micro_batches,
         "training.gradient_accumulation_steps", config);
  Choose(config.training.evaluation_batch_size, settings.evaluation_batch,
         "training.evaluation_batch_size", config);
  Choose(config.training.loss_chunk_rows, settings.loss_chunk_rows, "training.loss_chunk_rows",
         config);
  if (!config.memory.memory_page_file) return config;
  Choose(config.memory.memory_page_kinds, settings.paged, "memory.memory_page_kinds", config);
  Choose(config.memory.memory_page_activations_mb,
         settings.paged_activation_bytes / kBytesPerMegabyte, "memory.memory_page_activations_mb",
         config);
  Choose(config.memory.memory_page_buffer_mb, settings.page_buffer_bytes / kBytesPerMegabyte,
         "memory.memory_page_buffer_mb", config);
  return config;
}

}  // namespace frugal
