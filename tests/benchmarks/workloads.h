#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "tests/benchmarks/random_samples.h"

namespace frugal {

// What bench_compare measures, here and in peer.py: the same sizes, AdamW, random data.
struct Workload {
  std::string name;
  std::optional<ArchitectureConfig> architecture;  // else layers
  LayerList::Fill layers;
  DataLayout layout;
  std::int64_t batch = 1;
};

inline DataLayout TextOf(std::int64_t vocabulary, std::int64_t positions) {
  return {.sample_shape = {positions},
          .classes = vocabulary,
          .target_shape = {},
          .vocabulary = vocabulary,
          .label_shape = {positions}};
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
  return {
      {"chargpt", small, {}, TextOf(256, 256), 16},
      {"gpt2", Gpt2Config{}, {}, TextOf(50257, 256), 4},
      {"gpt2_t64", Gpt2Config{}, {}, TextOf(50257, 64), 4},
      {"resnet18_cifar",
       ResNetConfig{.num_classes = 10, .small_stem = true},
       {},
       ImagesOf(32, 3, 10),
       64},
      {"resnet18_224", ResNetConfig{}, {}, ImagesOf(224, 3, 1000), 8},
      {"mlp", std::nullopt, MlpLayers, ImagesOf(28, 1, 10), 256},
  };
}

inline AiModelBuilder BuilderFor(const Workload& workload) {
  DataLayout layout = workload.layout;
  layout.train_count = 4 * workload.batch;
  layout.test_count = workload.batch;
  const auto data = std::make_shared<RandomSamples>(layout, layout.train_count);
  const auto test = std::make_shared<RandomSamples>(layout, layout.test_count);
  AiModelBuilder builder;
  builder.Name(workload.name)
      .Memory(TrainingMemoryConfig::SpeedOptimized())
      .Data(layout, {data, test})
      .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 1e-4, .weight_decay = 0.01})
      .Training({.batch_size = workload.batch, .evaluation_batch_size = workload.batch});
  if (workload.architecture) {
    builder.Architecture(*workload.architecture);
  } else {
    builder.Layers(workload.layers);
  }
  return builder;
}

}  // namespace frugal
