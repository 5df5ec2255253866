// The promises, for the diffusion predictors: in the small sizes of their oracle cases.
#include <cmath>

#include "sdk/core/random.h"
#include "tests/io/temp_dir.h"
#include "tests/oracles/model_case.h"
#include "tests/oracles/stored_numbers.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kBatch = 2;

// Samples, conditions and targets that depend on their sample's number alone.
class PredictorData final : public DataSource {
 public:
  PredictorData(const DataLayout& layout, std::int64_t count) : layout_(layout), count_(count) {}

  std::int64_t count() const override { return count_; }

  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    FillWith(samples, 1, inputs, [](double u) { return 2 * u - 1; });
    FillWith(samples, 2, targets, [this](double u) {
      return layout_.classes > 0 ? std::floor(u * static_cast<double>(layout_.classes)) : u - 0.5;
    });
  }

  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override {
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      const NetworkInput& input = layout_.conditions[i];
      FillWith(samples, 3 + i, conditions[i], [&](double u) { return ValueOf(input, u); });
    }
  }

 private:
  static double ValueOf(const NetworkInput& input, double u) {
    if (input.role == InputRole::kTime) return u * input.time_range;
    if (input.role == InputRole::kLabel) return std::floor(u * static_cast<double>(input.classes));
    if (input.role == InputRole::kNumbers) return u < 0.7 ? 1 : 0;  // some words are padding
    return 2 * u - 1;
  }

  template <class Value>
  static void FillWith(std::span<const std::int64_t> samples, std::uint64_t stream,
                       const Tensor& tensor, Value value) {
    const std::int64_t size = tensor.size() / static_cast<std::int64_t>(samples.size());
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const auto sample = static_cast<std::uint64_t>(samples[static_cast<std::size_t>(i / size)]);
      const double number =
          value(UniformAt(64 * stream + sample, static_cast<std::uint64_t>(i % size)));
      if (tensor.dtype() == DType::kI64) {
        tensor.data<std::int64_t>()[i] = static_cast<std::int64_t>(number);
      } else {
        tensor.data<float>()[i] = static_cast<float>(number);
      }
    }
  }

  DataLayout layout_;
  std::int64_t count_;
};

DataSources SourcesOf(const DataLayout& layout) {
  return {std::make_shared<PredictorData>(layout, layout.train_count),
          std::make_shared<PredictorData>(layout, layout.test_count)};
}

// A training of two steps, and an evaluation.
AiModelBuilder ShortTraining(const ArchitectureConfig& config, const DataLayout& layout) {
  TrainingOptions training;
  training.batch_size = kBatch;
  training.evaluation_batch_size = kBatch;
  training.max_steps = 2;
  training.clip_gradient_norm = 1;
  AiModelBuilder builder;
  builder.Architecture(config).Data(layout, SourcesOf(layout)).Training(training);
  builder.Loss({.kind = LossKind::kMse}).Optimizer({.lr = 0.01});
  return builder;
}

Trained TrainOf(const AiModelBuilder& builder) {
  Model model = builder.Build();
  return Train(model);
}

void CheckEveryPreset(AiModelBuilder builder) {
  const TempDir directory;
  builder.Memory({}).Build().SaveWeights(directory.File("weights"));
  const Trained plain = TrainOf(builder);
  REQUIRE(plain.result.losses.size() == 2);
  CHECK(plain.result.losses[0] != plain.result.losses[1]);
  for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
    INFO(name);
    const Trained trained = TrainOf(builder.Memory(memory));
    CheckSame(plain, trained);
    CheckPlanIsRun(trained.plan, trained.result, memory.use_activation_pooling);
  }
}

struct Predictor {
  std::string name;
  ArchitectureConfig config;
  DataLayout layout;
  std::string weights;  // in which nothing is zero to begin with
};

// Returns the shape of one sample of what the case has under that name, channels last.
Shape ShapeIn(const oracles::ModelCase& one, const std::string& name) {
  const std::string& family = FamilyOf(one.config).name;
  const bool frames_first = family == "video_unet" || family == "cogvideox";
  const Tensor values = oracles::ReadInput(*one.expected, name, DType::kF32, frames_first ? 2 : 1);
  return Shape(values.shape().extents().subspan(1));
}

DataLayout LayoutOf(const oracles::ModelCase& one) {
  NetworkInputs inputs = BuildArchitecture(one.config)->inputs();
  for (NetworkInput& input : inputs) input.shape = ShapeIn(one, "input/" + input.name);
  DataLayout layout;
  layout.sample_shape = inputs.at(0).shape;
  layout.target_shape = ShapeIn(one, "target");
  layout.conditions.assign(inputs.begin() + 1, inputs.end());
  layout.train_count = 2 * kBatch;
  layout.test_count = kBatch;
  return layout;
}

// Those of the oracle cases whose network says what it takes.
std::vector<Predictor> Predictors() {
  std::vector<Predictor> predictors;
  for (const std::string& directory :
       oracles::ModelCaseDirectories(FRUGAL_TEST_DATA "/oracles/models")) {
    const oracles::ModelCase one = oracles::ReadModelCase(directory);
    if (BuildArchitecture(one.config)->inputs().empty()) continue;
    predictors.push_back({one.name, one.config, LayoutOf(one), directory + "/weights.safetensors"});
  }
  return predictors;
}

std::int64_t PeakOf(const Trained& trained, MemoryTag tag) {
  return trained.plan.peak_by_purpose[tag];
}

TEST_CASE("there is a predictor of every family") {
  std::vector<std::string> families;
  for (const Predictor& predictor : Predictors()) {
    families.push_back(FamilyOf(predictor.config).name);
  }
  for (const ArchitectureFamily* family : ArchitectureFamilies().Rows()) {
    if (BuildArchitecture(family->defaults)->inputs().empty()) continue;
    INFO(family->name);
    CHECK(std::ranges::count(families, family->name) > 0);
  }
  CHECK(families.size() >= 16);
}

TEST_CASE("every predictor trains its plan under every preset, and computes the same") {
  for (const Predictor& predictor : Predictors()) {
    INFO(predictor.name);
    CheckEveryPreset(ShortTraining(predictor.config, predictor.layout));
  }
}

TEST_CASE("no way of checkpointing changes what a predictor computes") {
  for (const Predictor& predictor : Predictors()) {
    AiModelBuilder builder = ShortTraining(predictor.config, predictor.layout);
    TrainingMemoryConfig memory;
    memory.default_initialization_strategy = InitializationStrategy::kFromFile;
    memory.weights_file_path = predictor.weights;
    const Trained plain = TrainOf(builder.Memory(memory));
    memory.use_gradient_checkpointing = true;
    for (const auto& [every, attention] : {std::pair{1, false}, {1, true}, {3, true}}) {
      INFO(predictor.name << " every " << every << " attention " << attention);
      memory.checkpoint_every_n_layers = every;
      memory.checkpoint_attention_layers = attention;
      const Trained trained = TrainOf(builder.Memory(memory));
      CheckSame(plain, trained);
      CheckPlanIsRun(trained.plan, trained.result, true);
      CHECK(trained.plan.steps.front().recomputed_flops > 0);
      if (every > 1) continue;  // three of so few blocks are most of the network
      CHECK(PeakOf(trained, MemoryTag::kActivation) < PeakOf(plain, MemoryTag::kActivation));
    }
    memory.checkpoint_residual_blocks = false;
    for (const bool attention : {true, false}) {
      INFO(predictor.name << " blocks run once, attention " << attention);
      memory.checkpoint_attention_layers = attention;
      const Trained trained = TrainOf(builder.Memory(memory));
      CheckSame(plain, trained);
      CheckPlanIsRun(trained.plan, trained.result, true);
    }
  }
}

TEST_CASE("in bf16 predictors train their plan, and checkpointing changes no bit") {
  for (const Predictor& predictor : Predictors()) {
    AiModelBuilder builder = ShortTraining(predictor.config, predictor.layout);
    builder.Override({"training.precision=bf16"});
    TrainingMemoryConfig memory;
    memory.default_initialization_strategy = InitializationStrategy::kFromFile;
    memory.weights_file_path = predictor.weights;
    INFO(predictor.name);
    const Trained plain = TrainOf(builder.Memory(memory));
    CHECK(std::isfinite(plain.result.losses.at(1)));
    CheckPlanIsRun(plain.plan, plain.result, true);
    memory.use_gradient_checkpointing = true;
    const Trained trained = TrainOf(builder.Memory(memory));
    CheckSame(plain, trained);
    CheckPlanIsRun(trained.plan, trained.result, true);
  }
}

DataLayout ImageLayout(const Shape& image) {
  return {.sample_shape = image,
          .classes = 5,
          .target_shape = {},
          .train_count = 2 * kBatch,
          .test_count = kBatch};
}

// Predictors whose output has the shape of their sample.
std::vector<std::pair<ArchitectureConfig, Shape>> NoisePredictors() {
  const DitConfig dit = {.input_size = 8,
                         .in_channels = 2,
                         .hidden_size = 16,
                         .depth = 2,
                         .num_heads = 2,
                         .num_classes = 5,
                         .learn_sigma = false};
  for (const Predictor& predictor : Predictors()) {
    if (predictor.config.As<UNetConfig>() == nullptr) continue;
    return {{dit, {8, 8, 2}}, {predictor.config, predictor.layout.sample_shape}};
  }
  return {};
}

TEST_CASE("diffusion with averaged weights trains its plan under every preset") {
  REQUIRE(NoisePredictors().size() == 2);
  for (const auto& [config, image] : NoisePredictors()) {
    for (const DiffusionKind kind : {DiffusionKind::kNoise, DiffusionKind::kFlow}) {
      INFO(FamilyOf(config).name << " " << NameOf(kind));
      AiModelBuilder builder = ShortTraining(config, ImageLayout(image));
      builder.Diffusion({.kind = kind}).Optimizer({.lr = 0.01, .ema_decay = 0.9});
      CheckEveryPreset(builder);
    }
  }
}

}  // namespace
}  // namespace frugal::testing
