// fashion_mnist.toml in C++: the same model, bit for bit. Takes --set section.key=value
// and --resume auto.
#include "builders/frugal.h"
#include "samples/arguments.h"

using namespace frugal;

// Halves height and width, then adds what two convolutions make of the result.
void AddStage(LayerList& layers, std::int64_t filters, std::int64_t kernel) {
  const Conv2dOptions inner{.filters = filters, .kernel = 3, .padding = 1, .bias = false};
  Conv2dOptions first{.filters = filters, .kernel = kernel, .stride = 2, .bias = false};
  first.padding = kernel / 2;
  layers.Conv2d(first).BatchNorm({.relu = true});
  layers.Residual({.activation = Activation::kRelu}, [&](LayerList& body) {
    body.Conv2d(inner).BatchNorm({.relu = true}).Conv2d(inner).BatchNorm();
  });
}

int main(int count, char** arguments) {
  return RunProgram([&] {
    const SampleArguments given = ReadArguments(count, arguments, "");
    AiModelBuilder builder;
    builder.Name("fashion-mnist")
        .Memory(TrainingMemoryConfig::ForConvNets())
        .Data({.dataset = "fashion-mnist", .mean = 0.2860, .std = 0.3530})
        .Layers([](LayerList& layers) {
          AddStage(layers, 32, 5);
          AddStage(layers, 64, 3);
          layers.Flatten().Dropout(0.2);
          layers.Dense({.units = 128, .activation = Activation::kRelu}).Dense({.units = 10});
        })
        .Loss({.label_smoothing = 0.05})
        .Optimizer({.kind = OptimizerKind::kSgd, .lr = 0.1, .momentum = 0.9, .weight_decay = 5e-4})
        .Schedule({.kind = ScheduleKind::kCosine, .warmup_steps = 200})
        .Training({.epochs = 4, .batch_size = 128, .seed = 1})
        .Snapshots({.directory = "build/fashion_mnist_twin/snapshots", .background = false})
        .Output({.report = "build/fashion_mnist_twin/report.html"})
        .Override(given.overrides);
    RunTraining(builder.Plan(), {.resume = given.resume});
  });
}
