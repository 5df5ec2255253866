// One network under several memory policies: what each plans and takes, how long it needs, and that
// all of them come to the same weights. Then a budget, and a loop of one's own over layers that
// TrainingMemoryManager checkpoints.
#include <array>
#include <cstdio>

#include "builders/frugal.h"
#include "layers/dense.h"
#include "sdk/core/random.h"
#include "sdk/optim/optimizer.h"

using namespace frugal;

namespace {

constexpr std::int64_t kLength = 64, kVocabulary = 96;

// Texts in which each token is the sum of the two before it; what kind a text is follows from how
// it begins.
struct Sums final : DataSource {
  std::int64_t count() const override { return 256; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& labels) const override {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::int64_t before = samples[i] % kVocabulary, token = samples[i] * 7 % kVocabulary;
      for (std::int64_t at = 0; at < kLength; ++at) {
        const auto place = i * kLength + static_cast<std::size_t>(at);
        inputs.values<std::int64_t>()[place] = token;
        before = std::exchange(token, (before + token) % kVocabulary);
        labels.values<std::int64_t>()[place] = token;
      }
    }
  }
};

DataLayout SumsLayout() {
  DataLayout layout;
  layout.sample_shape = layout.label_shape = {kLength};
  layout.vocabulary = layout.classes = kVocabulary;
  layout.train_count = layout.test_count = 256;
  return layout;
}

void Transformer(LayerList& l) {
  l.Embedding({.vocabulary = kVocabulary, .units = 96}).LearnedPositions({.positions = kLength});
  for (int block = 0; block < 4; ++block) {
    l.Residual({}, [](LayerList& b) { b.LayerNorm().Attention({.heads = 4, .causal = true}); });
    l.Residual({}, [](LayerList& b) {
      b.LayerNorm().Dense({.units = 384, .activation = Activation::kGelu}).Dense({.units = 96});
    });
  }
  l.LayerNorm().Dense({.units = kVocabulary});
}

AiModelBuilder BuilderOf(const TrainingMemoryConfig& memory) {
  return AiModelBuilder()
      .Memory(memory)
      .Data(SumsLayout(), {std::make_shared<Sums>(), std::make_shared<Sums>()})
      .Layers(Transformer)
      .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 2e-3})
      .Training({.batch_size = 16, .max_steps = 6, .threads = 2, .evaluate = false});
}

// Trains and prints a line. Returns the weights' hash.
std::string Row(const std::string& name, const TrainingMemoryConfig& memory) {
  Model model = BuilderOf(memory).Build();
  const std::int64_t when_built = model.live_bytes();
  const TrainingResult result = model.Train();
  std::printf("%-18s %9s built %9s planned %9s measured %6.2f s  loss %.4f  weights %s\n",
              name.c_str(), FormatBytes(when_built).c_str(),
              FormatBytes(model.plan().peak_bytes).c_str(),
              FormatBytes(result.memory.peak_bytes).c_str(), result.seconds, result.losses.back(),
              result.weights_hash.c_str());
  if (model.plan().peak_bytes != result.memory.peak_bytes) {
    throw UsageError(
        {.where = name, .required = "the plan is the run", .given = "it is not", .advice = {}});
  }
  return result.weights_hash;
}

void ComparePolicies() {
  const std::string hash = Row("Default", {});
  TrainingMemoryConfig budget;
  budget.memory_budget_mb = MemoryBudget{.megabytes = 18, .percent = 0};
  const std::array<std::pair<std::string, TrainingMemoryConfig>, 5> all = {{
      {"FastConstruction", TrainingMemoryConfig::FastConstruction()},
      {"SpeedOptimized", TrainingMemoryConfig::SpeedOptimized()},
      {"ForTransformers", TrainingMemoryConfig::ForTransformers()},
      {"MemoryEfficient", TrainingMemoryConfig::MemoryEfficient()},
      {"a budget of 18 MB", budget},
  }};
  bool same = true;
  for (const auto& [name, memory] : all) same = Row(name, memory) == hash && same;
  std::printf("%s\n\n",
              same ? "All of them came to the same weights, bit for bit." : "THE WEIGHTS DIFFER.");
}

// Eight layers of the program's own in a loop of its own: the policy decides what is kept.
void RunLayersOfOnesOwn(const std::string& name, const TrainingMemoryConfig& memory) {
  TrainingMemoryManager manager(memory);
  std::vector<std::unique_ptr<Dense>> owned;
  LayerPointers layers;
  for (int i = 0; i < 8; ++i) {
    owned.push_back(std::make_unique<Dense>(
        256, DenseOptions{.units = 256, .activation = {Activation::kTanh}}));
    layers.push_back(owned.back().get());
  }
  const Optimizer optimizer({.kind = OptimizerKind::kSgd, .lr = 0.02}, {}, 0, 4);
  Tensor input = manager.RentTensor({1024, 256});
  for (std::int64_t i = 0; i < input.size(); ++i) {
    input.data<float>()[i] = static_cast<float>(UniformAt(1, static_cast<std::uint64_t>(i)) - 0.5);
  }
  double mean = 0;
  for (std::int64_t step = 0; step < 4; ++step) {
    manager.context().set_step(step);
    auto [output, state] = manager.ForwardWithCheckpointing(layers, input);
    // Half the mean square of the outputs is to fall.
    Tensor gradient = manager.RentTensor(output.shape());
    mean = 0;
    for (std::int64_t i = 0; i < output.size(); ++i) {
      const double y = output.data<float>()[i];
      mean += y * y / static_cast<double>(output.size());
      gradient.data<float>()[i] = static_cast<float>(y / 1024);
    }
    manager.BackwardWithCheckpointing(gradient, state);
    std::vector<Parameter*> parameters;
    for (Layer* layer : layers) {
      for (Parameter* parameter : layer->Parameters()) parameters.push_back(parameter);
    }
    optimizer.Step(manager.context(), parameters);
    manager.context().parameters().ClearGradients();
  }
  std::printf("%-18s peak %9s  mean square %.9f\n", name.c_str(),
              FormatBytes(manager.GetDeviceMemoryUsage().front().peak_bytes).c_str(), mean);
}

}  // namespace

int main() {
  return RunProgram([] {
    ComparePolicies();
    std::printf("Layers and a loop of one's own, by TrainingMemoryManager:\n");
    RunLayersOfOnesOwn("Default", {});
    TrainingMemoryConfig runs = TrainingMemoryConfig::MemoryEfficient();
    runs.checkpoint_every_n_layers = 4;
    RunLayersOfOnesOwn("runs of 4 layers", runs);
  });
}
