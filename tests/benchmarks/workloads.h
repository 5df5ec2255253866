#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "tests/benchmarks/random_samples.h"
#include "tests/benchmarks/stand_ins.h"

namespace frugal {

// What bench_compare measures, here and in peer.py: the same sizes, AdamW, random data.
struct Workload {
  std::string name;
  std::optional<ArchitectureConfig> architecture;  // else layers
  LayerList::Fill layers;
  DataLayout layout;
  std::int64_t batch = 1;
  std::string note;  // what it is where its name says more
};

inline DataLayout TextOf(std::int64_t vocabulary, std::int64_t positions) {
  return {.sample_shape = {positions},
          .classes = vocabulary,
          .target_shape = {},
          .vocabulary = vocabulary,
          .label_shape = {positions}};
}

inline DataLayout TargetsOf(const Shape& image, const Shape& target) {
  return {.sample_shape = image, .classes = 0, .target_shape = target};
}

inline DataLayout ImagesOf(std::int64_t side, std::int64_t channels, std::int64_t classes) {
  return {.sample_shape = {side, side, channels}, .classes = classes, .target_shape = {}};
}

inline void MlpLayers(LayerList& layers) {
  layers.Flatten().Dense({.units = 1024, .activation = Activation::kRelu});
  layers.Dense({.units = 1024, .activation = Activation::kRelu}).Dense({.units = 10});
}

inline std::vector<Workload> Workloads() {
  const Gpt2Config small{
      .vocab_size = 256, .n_positions = 256, .n_embd = 384, .n_layer = 6, .n_head = 6};
  const DataLayout latents = TargetsOf({32, 32, 4}, {256, 16});
  const std::string dit = "plain stack of DiT's sizes, without its modulation";
  const std::string unet = "plain stack of a U-Net's residual blocks, without skips and attention";
  return {
      {"chargpt", small, {}, TextOf(256, 256), 16, ""},
      {"gpt2", Gpt2Config{}, {}, TextOf(50257, 256), 4, ""},
      {"gpt2_t64", Gpt2Config{}, {}, TextOf(50257, 64), 4, ""},
      {"dit_s2", std::nullopt, PlainDit(384, 6), latents, 16, dit},
      {"dit_b2", std::nullopt, PlainDit(768, 12), latents, 4, dit},
      {"unet", std::nullopt, PlainUNet, TargetsOf({32, 32, 3}, {32, 32, 3}), 16, unet},
      {"resnet18_cifar",
       ResNetConfig{.num_classes = 10, .small_stem = true},
       {},
       ImagesOf(32, 3, 10),
       64,
       ""},
      {"resnet18_224", ResNetConfig{}, {}, ImagesOf(224, 3, 1000), 8, ""},
      {"mlp", std::nullopt, MlpLayers, ImagesOf(28, 1, 10), 256, ""},
  };
}

inline AiModelBuilder BuilderFor(const Workload& workload, const TrainingMemoryConfig& memory,
                                 Precision precision) {
  DataLayout layout = workload.layout;
  layout.train_count = 4 * workload.batch;
  layout.test_count = workload.batch;
  const auto data = std::make_shared<RandomSamples>(layout, layout.train_count);
  const auto test = std::make_shared<RandomSamples>(layout, layout.test_count);
  TrainingMemoryConfig policy = memory;
  policy.optimizer_in_backward = true;  // costs no time
  AiModelBuilder builder;
  builder.Name(workload.name)
      .Memory(policy)
      .Data(layout, {data, test})
      .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 1e-4, .weight_decay = 0.01})
      .Training({.batch_size = workload.batch,
                 .evaluation_batch_size = workload.batch,
                 .precision = precision});
  if (workload.layout.classes == 0) builder.Loss({.kind = LossKind::kMse});
  if (workload.architecture) {
    builder.Architecture(*workload.architecture);
  } else {
    builder.Layers(workload.layers);
  }
  return builder;
}

}  // namespace frugal
