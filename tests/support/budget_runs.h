#pragma once

#include <string>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {

// Networks of some tens of MB, so that budgets in whole MB tell them apart.
inline ArchitectureConfig LargeEnough(const std::string& name) {
  if (name == "gpt") {
    return Gpt2Config{.vocab_size = 64,
                      .n_positions = 64,
                      .n_embd = 64,
                      .n_layer = 6,
                      .n_head = 4,
                      .embd_pdrop = 0.1,
                      .resid_pdrop = 0.1};
  }
  if (name == "vit") {
    return VitConfig{.image_size = 32,
                     .patch_size = 4,
                     .num_channels = 3,
                     .hidden_size = 48,
                     .intermediate_size = 192,
                     .num_hidden_layers = 5,
                     .num_attention_heads = 3,
                     .num_labels = 5};
  }
  return ResNetConfig{
      .layers = {1, 2, 1}, .width = 16, .num_classes = 5, .in_channels = 3, .small_stem = true};
}

inline DataLayout LayoutOfLarge(const std::string& name) {
  if (name == "gpt") {
    return {.sample_shape = {64},
            .classes = 64,
            .target_shape = {},
            .train_count = 64,
            .test_count = 16,
            .vocabulary = 64,
            .label_shape = {64}};
  }
  return {.sample_shape = {32, 32, 3},
          .classes = 5,
          .target_shape = {},
          .train_count = 64,
          .test_count = 16};
}

struct BudgetRun {
  std::string network = "gpt";
  std::int64_t budget_mb = 0;  // 0 = none
  TrainingMemoryConfig memory{};
  std::int64_t batch = 16;
  TrainingOptions training{};
};

inline AiModelBuilder BuilderFor(BudgetRun run) {
  const DataLayout layout = LayoutOfLarge(run.network);
  if (run.budget_mb > 0) run.memory.memory_budget_mb = MemoryBudget{run.budget_mb, 0};
  run.training.batch_size = run.batch;
  run.training.evaluation_batch_size = 16;
  run.training.max_steps = 3;
  AiModelBuilder builder;
  builder.Memory(run.memory).Data(layout, SyntheticSources(layout)).Training(run.training);
  return builder.Optimizer({.kind = OptimizerKind::kAdamW, .lr = 0.001})
      .Architecture(LargeEnough(run.network));
}

inline std::int64_t Megabytes(std::int64_t bytes) {
  return (bytes + kBytesPerMegabyte - 1) / kBytesPerMegabyte;
}

// Returns what planning is refused with, or nothing where it is not refused.
inline std::string RefusalOf(const AiModelBuilder& builder) {
  try {
    builder.Plan();
  } catch (const MemoryError& error) {
    return error.what();
  }
  return "";
}

// The least MB, as a refusal of 1 MB says.
inline std::int64_t FloorOf(AiModelBuilder builder) {
  builder.Override({"memory.memory_budget_mb=1"});
  const std::string text = RefusalOf(builder);
  const std::string before = "cannot train within 1 MB: ";
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return std::stoll(text.substr(at + before.size()));
}
inline std::int64_t FloorOf(const BudgetRun& run) { return FloorOf(BuilderFor(run)); }

}  // namespace frugal::testing
