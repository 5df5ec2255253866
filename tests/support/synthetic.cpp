#include "tests/support/synthetic.h"

#include <algorithm>

namespace frugal::testing {
namespace {

void Mlp(LayerList& l) {
  l.Flatten().Dense({.units = 24, .activation = Activation::kGelu}).LayerNorm();
  l.Dropout(0.3).Dense({.units = 24, .activation = Activation::kTanh});
  l.Dense({.units = 24, .activation = Activation::kRelu, .bias = false}).Dropout(0.1);
  l.Dense({.units = 5});
}

void ConvNet(LayerList& l) {
  l.Conv2d({.filters = 6, .kernel = {3}, .padding = {1}, .activation = Activation::kRelu});
  l.BatchNorm().AveragePool2d({.kernel = {2}});
  l.Conv2d({.filters = 8, .kernel = {3}, .padding = {1}, .groups = 2}).GroupNorm({.groups = 4});
  l.Activation(Activation::kSilu).MaxPool2d({.kernel = {2}}).Flatten().Dropout(0.25);
  l.Dense({.units = 5});
}

void ResNet(LayerList& l) {
  const auto block = [](std::int64_t filters, std::int64_t stride) {
    return [=](LayerList& b) {
      b.Conv2d(
          {.filters = filters, .kernel = {3}, .stride = {stride}, .padding = {1}, .bias = false});
      b.BatchNorm({.relu = true}).Dropout(0.1);
      b.Conv2d({.filters = filters, .kernel = {3}, .padding = {1}, .bias = false}).BatchNorm();
    };
  };
  const auto shortcut = [](LayerList& s) {
    s.Conv2d({.filters = 8, .kernel = {1}, .stride = {2}, .bias = false}).BatchNorm();
  };
  l.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}}, "stem");
  l.Residual({.activation = Activation::kRelu}, block(4, 1));
  l.Residual({.activation = Activation::kRelu}, block(8, 2), shortcut);
  l.Sequential([&](LayerList& inner) {
    inner.Residual({}, block(8, 1)).Activation(Activation::kRelu).BatchNorm();
  });
  l.AdaptiveAveragePool2d().Flatten().Dense({.units = 5}, "head");
}

// Down and up again, as the middle of an autoencoder.
void Decoder(LayerList& l) {
  l.Conv2d({.filters = 6, .kernel = {3}, .stride = {2}, .padding = {1}}).RmsNorm();
  l.Activation(Activation::kSilu).Upsample({.mode = Upsampling::kBilinear});
  l.ConvTranspose2d({.filters = 4, .kernel = {3}, .stride = {2}, .padding = {1}, .groups = 2});
  l.RmsNorm({.affine = false}).Upsample().MaxPool2d({.kernel = {4}});
  l.ConvTranspose2d({.filters = 4, .kernel = {2}, .bias = false}, "last");
  l.Flatten().Dense({.units = 5});
}

// The rows of an image, one after the other.
void Recurrent(LayerList& l) {
  l.Conv2d({.filters = 6, .kernel = {1, 8}}).ToSequence();
  l.Conv1d({.filters = 6, .kernel = {3}, .padding = {1}, .activation = Activation::kRelu});
  l.Residual({}, [](LayerList& body) { body.RmsNorm().Lstm({.units = 6}).Dropout(0.2); });
  l.Gru({.units = 5, .bias = false}).ConvTranspose1d({.filters = 6, .kernel = {2}});
  l.SequencePool({.mode = SequencePooling::kLast}).Dense({.units = 5});
}

}  // namespace

std::vector<std::string> NetworkNames() {
  return {"mlp", "convnet", "resnet", "decoder", "recurrent"};
}

LayerList::Fill NetworkNamed(const std::string& name) {
  if (name == "mlp") return Mlp;
  if (name == "convnet") return ConvNet;
  if (name == "decoder") return Decoder;
  return name == "recurrent" ? Recurrent : ResNet;
}

AiModelBuilder BuilderFor(const SmallRun& run) {
  TrainingOptions training;
  training.batch_size = run.batch;
  training.evaluation_batch_size = 8;
  training.max_steps = run.max_steps;
  training.epochs = run.epochs;
  training.drop_last = run.drop_last;
  training.backend = run.backend;
  training.precision = run.precision;
  training.clip_gradient_norm = run.clip;
  training.gradient_accumulation_steps = run.accumulate;
  training.threads = run.threads;
  const DataLayout layout = LayoutFor(run.network);
  AiModelBuilder builder;
  builder.Memory(run.memory).Data(layout, SyntheticSources(layout));
  builder.Optimizer(run.optimizer)
      .Training(training)
      .Sharding(run.sharding)
      .Snapshots(run.snapshots);
  if (layout.classes == 0) builder.Loss({.kind = LossKind::kMse});
  if (std::ranges::count(ArchitectureNames(), run.network) > 0) {
    return builder.Architecture(ArchitectureOf(run.network, run.dropout));
  }
  return builder.Layers(NetworkNamed(run.network));
}

Trained Train(const SmallRun& run) {
  Model model = BuilderFor(run).Build();
  return Train(model);
}

Trained Train(Model& model) {
  Trained trained;
  trained.plan = model.plan();
  trained.result = model.Train();
  for (const Parameter* parameter : model.parameters()) {
    trained.values.push_back(model.Values(parameter->path));
    trained.gradients.push_back(model.LastGradient(parameter->path));
  }
  return trained;
}

std::vector<std::pair<std::string, TrainingMemoryConfig>> AllPresets(
    const std::string& weights_path) {
  return {{"Default", TrainingMemoryConfig::Default()},
          {"MemoryEfficient", TrainingMemoryConfig::MemoryEfficient()},
          {"SpeedOptimized", TrainingMemoryConfig::SpeedOptimized()},
          {"MultiGpu", TrainingMemoryConfig::MultiGpu(1)},
          {"ForTransformers", TrainingMemoryConfig::ForTransformers()},
          {"ForConvNets", TrainingMemoryConfig::ForConvNets()},
          {"ForTransferLearning", TrainingMemoryConfig::ForTransferLearning(weights_path)},
          {"FastConstruction", TrainingMemoryConfig::FastConstruction()},
          {"AggressivePooling", TrainingMemoryConfig::AggressivePooling()}};
}

}  // namespace frugal::testing
