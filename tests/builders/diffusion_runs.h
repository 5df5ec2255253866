#pragma once

#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {

// A diffusion transformer for the synthetic images.
inline DitConfig SmallDit() {
  DitConfig config;
  config.input_size = 8;
  config.patch_size = 4;
  config.in_channels = 2;
  config.hidden_size = 16;
  config.depth = 1;
  config.num_heads = 2;
  config.num_classes = 5;
  config.learn_sigma = false;
  return config;
}

inline DiffusionOptions SmallFlow() {
  return {.kind = DiffusionKind::kFlow, .label_dropout = 0.2, .sampler_steps = 3};
}

// A transformer that learns to draw the synthetic images, with a learning rate that is seen to
// move it.
inline AiModelBuilder DrawingBuilder(const DiffusionOptions& diffusion = SmallFlow(),
                                     const OptimizerOptions& optimizer = {.lr = 0.01}) {
  const DataLayout layout = SyntheticLayout();
  AiModelBuilder builder;
  builder.Architecture(SmallDit())
      .Data(layout, SyntheticSources(layout))
      .Diffusion(diffusion)
      .Optimizer(optimizer)
      .Training({.batch_size = 8, .evaluation_batch_size = 8, .seed = 3});
  return builder;
}

inline std::vector<std::int64_t> FirstEight() { return {0, 1, 2, 3, 4, 5, 6, 7}; }

inline Model TrainedModel(const AiModelBuilder& builder, int steps = 4) {
  Model model = builder.Build();
  for (int i = 0; i < steps; ++i) model.TrainStep(FirstEight());
  return model;
}

}  // namespace frugal::testing
