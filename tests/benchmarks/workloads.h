#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "builders/setup/nominal_layout.h"
#include "tests/benchmarks/random_samples.h"

namespace frugal {

// Describes a training that bench_compare measures, here and in peer.py: the same sizes, AdamW,
// random data.
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

// All that a noise predictor takes, to targets of its sample's shape.
inline DataLayout NoiseOf(const ArchitectureConfig& config) {
  DataLayout layout = NominalLayoutOf(config, *BuildArchitecture(config)).layout;
  layout.target_shape = layout.sample_shape;
  return layout;
}

// DiT (Peebles & Xie, arXiv:2212.09748, table 1) over latents [32, 32, 4] of 1000 classes, without
// the outputs for the variance.
inline ArchitectureConfig DitOf(std::int64_t width, std::int64_t heads) {
  return DitConfig{.hidden_size = width, .depth = 12, .num_heads = heads, .learn_sigma = false};
}

// As DDPM's (Ho et al., arXiv:2006.11239, appendix B), smaller: over images [32, 32, 3], with
// attention of 4 heads at the last stage and in the middle.
inline ArchitectureConfig SmallUNet() {
  return UNetConfig{.down_block_types = {"DownBlock2D", "DownBlock2D", "AttnDownBlock2D"},
                    .up_block_types = {"AttnUpBlock2D", "UpBlock2D", "UpBlock2D"},
                    .block_out_channels = {64, 128, 128},
                    .attention_head_dim = 32};
}

inline std::vector<Workload> Workloads() {
  const Gpt2Config small{
      .vocab_size = 256, .n_positions = 256, .n_embd = 384, .n_layer = 6, .n_head = 6};
  const ResNetConfig resnet{.num_classes = 10, .small_stem = true};
  const ArchitectureConfig dit_s2 = DitOf(384, 6);
  const ArchitectureConfig dit_b2 = DitOf(768, 12);
  const ArchitectureConfig unet = SmallUNet();
  return {
      {"chargpt", small, {}, TextOf(256, 256), 16},
      {"gpt2", Gpt2Config{}, {}, TextOf(50257, 256), 4},
      {"gpt2_t64", Gpt2Config{}, {}, TextOf(50257, 64), 4},
      {"dit_s2", dit_s2, {}, NoiseOf(dit_s2), 16},
      {"dit_b2", dit_b2, {}, NoiseOf(dit_b2), 4},
      {"unet", unet, {}, NoiseOf(unet), 16},
      {"resnet18_cifar", resnet, {}, ImagesOf(32, 3, 10), 64},
      {"resnet18_224", ResNetConfig{}, {}, ImagesOf(224, 3, 1000), 8},
      {"mlp", std::nullopt, MlpLayers, ImagesOf(28, 1, 10), 256},
  };
}

// Throws UsageError where there is none of that name.
inline Workload WorkloadNamed(const std::string& name) {
  std::string names;
  for (Workload& workload : Workloads()) {
    if (workload.name == name) return std::move(workload);
    names += (names.empty() ? "" : ", ") + workload.name;
  }
  throw UsageError({.where = name,
                    .required = "the name of a workload of bench_compare",
                    .given = "there is none of that name",
                    .advice = "one of " + names});
}

// Random samples of four batches to train on and one to test with.
inline DataSources SourcesOf(const Workload& workload) {
  const auto samples = [&](std::int64_t count) {
    return std::make_shared<RandomSamples>(workload.layout, count);
  };
  return {.train = samples(4 * workload.batch), .test = samples(workload.batch)};
}

inline AiModelBuilder BuilderFor(const Workload& workload, const TrainingMemoryConfig& memory,
                                 Precision precision) {
  DataLayout layout = workload.layout;
  layout.train_count = 4 * workload.batch;
  layout.test_count = workload.batch;
  const DataSources sources = SourcesOf(workload);
  TrainingMemoryConfig policy = memory;
  policy.optimizer_in_backward = true;  // costs no time
  AiModelBuilder builder;
  builder.Name(workload.name)
      .Memory(policy)
      .Data(layout, sources)
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
