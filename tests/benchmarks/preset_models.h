#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "sdk/core/random.h"

namespace frugal {

// The networks that bench_presets measures, on random tokens and images.
struct PresetModel {
  std::string name;   // of --models
  std::string title;  // in the table
  ArchitectureConfig architecture;
  DataLayout layout;
  std::int64_t batch = 1;
};

class RandomSamples final : public DataSource {
 public:
  explicit RandomSamples(const DataLayout& layout) : layout_(layout) {}

  std::int64_t count() const override { return layout_.train_count; }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    const auto seed = static_cast<std::uint64_t>(samples.front());
    if (layout_.vocabulary > 0) {
      FillLabels(seed, layout_.vocabulary, inputs.values<std::int64_t>());
    } else {
      const auto images = inputs.values<float>();
      for (std::size_t i = 0; i < images.size(); ++i) {
        images[i] = static_cast<float>(UniformAt(seed, i) - 0.5);
      }
    }
    FillLabels(seed + 1, layout_.classes, targets.values<std::int64_t>());
  }

 private:
  static void FillLabels(std::uint64_t seed, std::int64_t classes, std::span<std::int64_t> labels) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int64_t>(UniformAt(seed, i) * static_cast<double>(classes));
    }
  }

  DataLayout layout_;
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
      .Data(model.layout, {std::make_shared<RandomSamples>(model.layout), nullptr})
      .Architecture(model.architecture)
      .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 1e-4})
      .Training({.batch_size = model.batch, .evaluate = false});
  return builder;
}

}  // namespace frugal
