// diffusion.toml in C++: the same model, bit for bit. Takes --set section.key=value ...
#include "samples/050_diffusion/clothes.h"
#include "samples/arguments.h"

using namespace frugal;

int main(int count, char** arguments) {
  return RunProgram([&] {
    DitConfig network;
    network.input_size = 28;
    network.patch_size = 4;
    network.in_channels = 1;
    network.hidden_size = 256;
    network.depth = 6;
    network.num_heads = 4;
    network.num_classes = 10;
    network.learn_sigma = false;
    AiModelBuilder builder;
    builder.Name("clothes")
        .Architecture(network)
        .Memory(TrainingMemoryConfig::SpeedOptimized())
        .Data({.dataset = "fashion-mnist", .mean = 0.5, .std = 0.5, .test_limit = 2000})
        .Diffusion({.kind = DiffusionKind::kFlow,
                    .times = FlowTimes::kLogitNormal,
                    .label_dropout = 0.1,
                    .sampler_steps = 40,
                    .guidance = 2.0})
        .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 0.0006, .beta2 = 0.99, .ema_decay = 0.998})
        .Schedule({.kind = ScheduleKind::kCosine, .warmup_steps = 200, .final_fraction = 0.05})
        .Training({.epochs = 2,
                   .batch_size = 64,
                   .evaluation_batch_size = 200,
                   .max_steps = 1600,
                   .seed = 1,
                   .clip_gradient_norm = 1.0})
        .Override(ReadArguments(count, arguments, "").overrides);
    clothes::TrainAndDraw(builder.Plan(), "build/diffusion_twin");
  });
}
