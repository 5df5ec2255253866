#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "tests/benchmarks/random_samples.h"

namespace frugal {

// The networks that bench_presets measures, on random tokens and images.
struct PresetModel {
  std::string name;   // of --models
  std::string title;  // in the table
  ArchitectureConfig architecture;
  DataLayout layout;
  std::int64_t batch = 1;
};

inline std::vector<PresetModel> PresetModels() {
  const std::int64_t samples = 1024;
  const DataLayout text{.sample_shape = {256},
                        .classes = 256,
                        .target_shape = {},
                        .train_count = samples,
                        .vocabulary = 256,
                        .label_shape = {256}};
  const DataLayout images{
      .sample_shape = {32, 32, 3}, .classes = 10, .target_shape = {}, .train_count = samples};
  return {
      {"gpt", "GPT-2, 6 layers of 384, 8 x 256 tokens",
       Gpt2Config{.vocab_size = 256, .n_positions = 256, .n_embd = 384, .n_layer = 6, .n_head = 6},
       text, 8},
      {"vit", "ViT, 6 layers of 192, 32 images 32x32, patch 4",
       VitConfig{.image_size = 32,
                 .patch_size = 4,
                 .hidden_size = 192,
                 .intermediate_size = 768,
                 .num_hidden_layers = 6,
                 .num_attention_heads = 3,
                 .num_labels = 10},
       images, 32},
      {"resnet", "ResNet-18, small stem, 32 images 32x32",
       ResNetConfig{.num_classes = 10, .small_stem = true}, images, 32}};
}

inline AiModelBuilder BuilderFor(const PresetModel& model, const TrainingMemoryConfig& memory) {
  AiModelBuilder builder;
  builder.Name(model.name)
      .Memory(memory)
      .Data(model.layout,
            {std::make_shared<RandomSamples>(model.layout, model.layout.train_count), nullptr})
      .Architecture(model.architecture)
      .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 1e-4})
      .Training({.batch_size = model.batch, .evaluate = false});
  return builder;
}

}  // namespace frugal
