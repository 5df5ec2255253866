#include <algorithm>

#include "builders/output_files.h"
#include "builders/report/memory/memory_diff.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

// A mistake in the use of a model that was built and is otherwise fine.
Case Use(const std::string& title, const std::string& code,
         const std::function<void(Model&)>& use) {
  return {title, code, [use] {
            WriteTinyData();
            Model model = TinyTraining().Build();
            use(model);
          }};
}

Case Plan(const std::string& title, const std::string& code,
          const std::function<void(AiModelBuilder&)>& change) {
  return {title, code, [change] {
            AiModelBuilder builder = TinyTraining();
            change(builder);
            builder.Plan();
          }};
}

Case Output(const std::string& title, const OutputOptions& output, const std::string& input) {
  return {title, input, [output] {
            AiModelBuilder builder = TinyTraining();
            builder.Output(output);
            PrepareOutputs(builder.config(), {"run.toml"});
          }};
}

// Four samples, labelled 0, 1, 2 and 3.
struct FourLabels final : DataSource {
  std::int64_t count() const override { return 4; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& labels) const override {
    std::ranges::fill(inputs.values<float>(), 0.5F);
    std::ranges::copy(samples, labels.data<std::int64_t>());
  }
};

std::vector<Case> OfModels() {
  return {
      Use("A step on no samples", "model.TrainStep({})", [](Model& model) { model.TrainStep({}); }),
      Use("A sample that is not there", "model.TrainStep({0, 1, 8}) with 8 samples",
          [](Model& model) {
            model.TrainStep(std::vector<std::int64_t>{0, 1, 8});
          }),
      Use("Inputs that are no whole samples", "model.Predict(inputs of 20 values, 2)",
          [](Model& model) { model.Predict(std::vector<float>(20), 2); }),
      Use("A parameter that the model lacks", "model.Values(\"haed.weight\")",
          [](Model& model) { model.Values("haed.weight"); }),
      Use("A step on values that are no whole samples", "model.TrainStep({20 values}, {labels}, 2)",
          [](Model& model) {
            const std::vector<float> values(20);
            const std::vector<std::int64_t> labels = {0, 1};
            model.TrainStep(std::vector<InputValues>{values}, std::vector<InputValues>{labels}, 2);
          }),
      Use("A step on a label that is no class", "model.TrainStep({images}, {0, 12}, 2)",
          [](Model& model) {
            const auto size = model.layout().sample_shape.ElementCount();
            const std::vector<float> values(static_cast<std::size_t>(2 * size));
            const std::vector<std::int64_t> labels = {0, 12};
            model.TrainStep(std::vector<InputValues>{values}, std::vector<InputValues>{labels}, 2);
          }),
      Use("A part that the data do not have", "model.Evaluate(DatasetPart::kValidation)",
          [](Model& model) { model.Evaluate(DatasetPart::kValidation); }),
      Use("Training a model that was made for inference", "model.ForInference().Train()",
          [](Model& model) { model.ForInference().Train(); }),
      Use("A file that cannot hold a network's description", "Model::FromFile(\"own.safetensors\")",
          [](Model&) {
            AiModelBuilder own = TinyTraining();
            own.Layers([](LayerList& layers) {
              layers.Flatten().Custom("head", [](const Shape& input) {
                return std::make_unique<Dense>(input.back(), DenseOptions{.units = 3});
              });
            });
            own.Build().SaveWeights("own.safetensors");
            Model::FromFile("own.safetensors");
          }),
      Use("Weights of another model", "model.LoadWeights(\"other.safetensors\")",
          [](Model& model) {
            AiModelBuilder other = TinyTraining();
            other.Layers([](LayerList& layers) { layers.Flatten().Dense({.units = 3}, "top"); });
            other.Build().SaveWeights("other.safetensors");
            model.LoadWeights("other.safetensors");
          }),
  };
}

std::vector<Case> OfBuilders() {
  return {
      Plan("A model without layers", "builder.Layers({})",
           [](AiModelBuilder& builder) { builder.Layers({}); }),
      Plan("A layer without a size", "layers.Dense({})",
           [](AiModelBuilder& builder) {
             builder.Layers([](LayerList& layers) { layers.Flatten().Dense({}); });
           }),
      Plan("A value out of range", "builder.Training({.epochs = 0, .batch_size = 4})",
           [](AiModelBuilder& builder) { builder.Training({.epochs = 0, .batch_size = 4}); }),
      Plan("A memory policy that contradicts itself",
           "TrainingMemoryConfig{.use_gradient_checkpointing = true, "
           ".checkpoint_every_n_layers = 0, .sharding_strategy = ShardingStrategy::kCustom}",
           [](AiModelBuilder& builder) {
             TrainingMemoryConfig memory;
             memory.use_gradient_checkpointing = true;
             memory.checkpoint_every_n_layers = 0;
             memory.sharding_strategy = ShardingStrategy::kCustom;
             builder.Memory(memory);
           }),
      Plan("A pooling without a window", "layers.MaxPool2d({})",
           [](AiModelBuilder& builder) {
             builder.Layers([](LayerList& layers) { layers.MaxPool2d({}).Flatten(); });
           }),
      Plan("An override with a typo", "builder.Override({\"training.batch_sice=8\"})",
           [](AiModelBuilder& builder) { builder.Override({"training.batch_sice=8"}); }),
      {"Own data without a test part", "builder.Data(layout, {train, nullptr}); Evaluate()",
       [] {
         AiModelBuilder builder = TinyTraining();
         builder.Data(
             {.sample_shape = {4, 4, 1}, .classes = 3, .target_shape = {}, .train_count = 8}, {});
         builder.Build().Evaluate();
       }},
      {"Own data without a training part", "builder.Data(layout, {nullptr, test}); Train()",
       [] {
         AiModelBuilder builder = TinyTraining();
         builder.Data(
             {.sample_shape = {4, 4, 1}, .classes = 3, .target_shape = {}, .train_count = 8}, {});
         builder.Build().Train();
       }},
      {"Own data whose labels are no classes",
       "labels [0, 1, 2, 3] of a source whose layout has classes = 3",
       [] {
         AiModelBuilder builder = TinyTraining();
         builder.Data(
             {.sample_shape = {4, 4, 1}, .classes = 3, .target_shape = {}, .train_count = 4},
             {std::make_shared<FourLabels>(), nullptr});
         builder.Build().TrainStep(std::vector<std::int64_t>{0, 1, 2, 3});
       }},
      {"A shape of nine dimensions", "Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}",
       [] { Shape(std::vector<std::int64_t>(9, 1)); }},
  };
}

std::vector<Case> OfLosses() {
  return {
      {"A loss for numbers beside labels of the program's own",
       "builder.Data({.classes = 3, ...}, sources).Loss({.kind = LossKind::kMse})",
       [] {
         AiModelBuilder builder = TinyTraining();
         builder
             .Data({.sample_shape = {4, 4, 1}, .classes = 3, .target_shape = {}, .train_count = 8},
                   {})
             .Loss({.kind = LossKind::kMse})
             .Plan();
       }},
      {"A loss for labels beside numbers of the program's own",
       "builder.Data({.target_shape = {3}, ...}, sources)",
       [] {
         AiModelBuilder builder = TinyTraining();
         builder.Data({.sample_shape = {4, 4, 1}, .target_shape = {3}, .train_count = 8}, {})
             .Plan();
       }},
      {"Sample weights beside a loss of the program's own",
       "builder.Data({.sample_weights = true, ...}, sources).Loss(function)",
       [] {
         AiModelBuilder builder = TinyTraining();
         builder
             .Data({.sample_shape = {4, 4, 1},
                    .classes = 3,
                    .target_shape = {},
                    .train_count = 8,
                    .sample_weights = true},
                   {})
             .Loss([](Context&, const Var& output, const Tensor&) { return output; })
             .Plan();
       }},
  };
}

std::vector<Case> OfOutputs() {
  WriteFile("notes", "a file, not a directory");
  return {
      Output("A directory as report", {.report = "."}, "[output] report = \".\""),
      Output("Two outputs in one file", {.report = "out/run.html", .summary = "out//run.html"},
             "[output] report = \"out/run.html\", summary = \"out//run.html\""),
      Output("An output over the configuration itself", {.summary = "./run.toml"},
             "frugal train run.toml --summary ./run.toml"),
      Output("An output below a file", {.weights = "notes/model.safetensors"},
             "[output] weights = \"notes/model.safetensors\", where notes is a file"),
      Output("A file as the directory for TensorBoard", {.tensorboard = "notes"},
             "[output] tensorboard = \"notes\", which is a file"),
      Output("A memory report in a form that there is not", {.memory_report = "memory.pdf"},
             "frugal train run.toml --memory-report memory.pdf"),
      {"A file that is no memory report", "frugal memory diff run.toml notes.json, of {}",
       [] {
         WriteFile("notes.json", "{}");
         ReadMemorySide("notes.json");
       }},
  };
}

}  // namespace

Chapter Misuse() {
  Chapter chapter{"Calls and outputs", OfModels()};
  for (const auto& more : {OfBuilders(), OfLosses(), OfOutputs()}) {
    chapter.cases.insert(chapter.cases.end(), more.begin(), more.end());
  }
  return chapter;
}

}  // namespace frugal::gallery
