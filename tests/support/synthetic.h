#pragma once

#include "builders/frugal.h"

namespace frugal::testing {

// Images [8, 8, 2] that depend on their number alone, with labels in [0, 5).
DataLayout SyntheticLayout(std::int64_t train = 64, std::int64_t test = 20);

// Tokens that depend on their sample's number alone, with a label for each, or, with `features`,
// real targets [length, features].
struct SyntheticText {
  std::int64_t length = 6;
  std::int64_t vocabulary = 13;
  std::int64_t features = 0;
};
DataLayout SyntheticTextLayout(const SyntheticText& text);

DataSources SyntheticSources(const DataLayout& layout);

// Named small networks that between them use every layer that an image can reach: "mlp", "convnet",
// "resnet", "decoder", "recurrent".
std::vector<std::string> NetworkNames();
LayerList::Fill NetworkNamed(const std::string& name);

// The named architectures in small: "gpt2", "llama", "bert" (whose hidden states are fitted to real
// targets), "vit", "resnet18". Dropout where the family has it.
std::vector<std::string> ArchitectureNames();
ArchitectureConfig ArchitectureOf(const std::string& name, double dropout);
// The data that a network or an architecture takes.
DataLayout LayoutFor(const std::string& name);

// A builder with data, loss, optimizer and one of the networks or architectures.
struct SmallRun {
  std::string network = "convnet";
  TrainingMemoryConfig memory;
  std::int64_t batch = 8;
  std::int64_t max_steps = 4;
  std::int64_t epochs = 1;
  bool drop_last = true;
  BackendKind backend = BackendKind::kOneDnn;
  Precision precision = Precision::kF32;
  double clip = 1.0;
  std::int64_t accumulate = 1;
  double dropout = 0.2;  // of architectures
  std::int64_t threads = 0;
  ShardingOptions sharding = {};
  OptimizerOptions optimizer = {.lr = 0.01};
  SnapshotOptions snapshots = {};
};
AiModelBuilder BuilderFor(const SmallRun& run);

// Everything that a training computes, for comparing bit for bit.
struct Trained {
  TrainingResult result;
  Plan plan;
  std::vector<std::vector<double>> values;     // of every parameter and buffer
  std::vector<std::vector<double>> gradients;  // of the last step
};
Trained Train(const SmallRun& run);
// Trains a model and returns what was computed.
Trained Train(Model& model);

// All nine presets; ForTransferLearning reads `weights_path`.
std::vector<std::pair<std::string, TrainingMemoryConfig>> AllPresets(
    const std::string& weights_path);

}  // namespace frugal::testing
