// Networks of several inputs and outputs, made of lists.
#include "builders/config/run_config_reader.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

// Two images, a number of a kind, and beside the label two values and a second label.
DataLayout RichLayout() {
  DataLayout layout = SyntheticLayout();
  layout.conditions = {{.name = "right", .shape = {8, 8, 2}},
                       {.name = "kind", .role = InputRole::kLabel, .classes = 7}};
  layout.more_targets = {{.name = "place", .shape = {2}}, {.name = "color", .classes = 3}};
  return layout;
}

void Tower(LayerList& l) {
  l.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}, .activation = Activation::kTanh});
  l.BatchNorm().Dropout(0.2).MaxPool2d({.kernel = {4}}).Flatten();
}

// One tower for both images, a table for the kind, and two outputs on the way.
void Rich(LayerList& l) {
  l.Sequential(Tower, "tower").Save("left");
  l.Take("right").Again("tower");
  l.Join({.with = "left", .combine = Combine::kSubtract});
  l.Output("place", {.target = "place", .loss = {.kind = LossKind::kMse}, .weight = 0.5},
           [](LayerList& o) { o.Dense({.units = 2}); });
  l.Save("both").Take("kind").Embedding({.vocabulary = 7, .units = 3});
  l.Join({.with = "both"}).Dense({.units = 6, .activation = Activation::kRelu});
  l.Output("color", {.target = "color", .loss = {.label_smoothing = 0.1}, .weight = 2},
           [](LayerList& o) {
             o.Dense({.units = 4}).Activation(Activation::kTanh).Dense({.units = 3});
           });
  l.Dense({.units = 5});
}

AiModelBuilder RichBuilder(const SmallRun& run, const LayerList::Fill& fill = Rich) {
  const DataLayout layout = RichLayout();
  return BuilderFor(run).Data(layout, SyntheticSources(layout)).Layers(fill);
}

TEST_CASE("networks of several inputs and outputs keep the promises", "[graph]") {
  const TempDir directory;
  SmallRun run{.memory = {}, .drop_last = false, .threads = 1};
  Model first = RichBuilder(run).Build();
  first.SaveWeights(directory.File("weights"));
  const Trained expected = Train(first);
  CHECK(expected.result.losses.front() != expected.result.losses.back());
  auto presets = AllPresets(directory.File("weights"));
  for (const std::int64_t devices : {2, 3}) {
    presets.emplace_back(std::to_string(devices) + " devices", TrainingMemoryConfig());
    presets.back().second.num_devices = devices;
  }
  for (const auto& [name, memory] : presets) {
    INFO(name);
    run.memory = memory;
    Model model = RichBuilder(run).Build();
    const Trained trained = Train(model);
    CheckSame(expected, trained);
    CHECK(trained.result.evaluations.back().result.metrics.size() == 4);
    if (memory.num_devices == 1) CheckPlanIsRun(trained.plan, trained.result, false);
    Model copy = model.Clone();
    CHECK(copy.WeightsHash() == model.WeightsHash());
  }
}

TEST_CASE("parts of a batch and bf16 leave several outputs as planned", "[graph]") {
  SmallRun run{.memory = {}, .accumulate = 4, .threads = 1};
  const Trained parts = Train(*std::make_unique<Model>(RichBuilder(run).Build()));
  CheckPlanIsRun(parts.plan, parts.result, false);
  run.accumulate = 1;
  for (const bool in_backward : {false, true}) {
    run.memory = TrainingMemoryConfig::MemoryEfficient();
    run.memory.optimizer_in_backward = in_backward;
    run.clip = 0;
    run.precision = Precision::kBF16;
    Model model = RichBuilder(run).Build();
    const Trained trained = Train(model);
    CheckPlanIsRun(trained.plan, trained.result, false);
  }
}

TEST_CASE("replicas of several inputs and outputs come to the bits of one device", "[graph]") {
  SmallRun run{.memory = {}, .accumulate = 2, .threads = 1};
  run.sharding.reduction_groups = 2;
  const Trained expected = Train(*std::make_unique<Model>(RichBuilder(run).Build()));
  run.accumulate = 1;
  run.sharding = {.data_parallel = 2};
  run.memory.num_devices = 2;
  for (const std::int64_t zero : {0, 1, 2, 3}) {
    INFO("zero_stage " << zero);
    run.sharding.zero_stage = zero;
    Model model = RichBuilder(run).Build();
    const Trained trained = Train(model);
    CHECK(trained.result.losses == expected.result.losses);
    CHECK(trained.result.weights_hash == expected.result.weights_hash);
  }
}

TEST_CASE("statistics that two stages would move are refused", "[graph]") {
  SmallRun run{.memory = {}, .threads = 1};
  run.memory.num_devices = 2;
  run.memory.sharding_strategy = ShardingStrategy::kCustom;
  run.memory.custom_device_assignments = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::size_t layers = RichBuilder({}).Plan().network->size();
  run.memory.custom_device_assignments->resize(layers, 1);
  CHECK_THAT(RefusalOf([&] { RichBuilder(run).Plan(); }),
             Contains("tower.1.running_mean is in stages 0 and 1"));
}

// f64 on the reference backend, nothing random.
AiModelBuilder ExactBuilder(const LayerList::Fill& fill) {
  SmallRun run{
      .memory = {}, .backend = BackendKind::kEigen, .precision = Precision::kF64, .clip = 0};
  run.optimizer = {.kind = OptimizerKind::kSgd, .lr = 0};
  return RichBuilder(run, fill);
}

// Rich without what is random or kinked.
void Smooth(LayerList& l) {
  l.Sequential(
       [](LayerList& t) {
         t.Conv2d({.filters = 2, .kernel = {3}, .activation = Activation::kTanh}).Flatten();
       },
       "tower")
      .Save("left");
  l.Take("right").Again("tower").Join({.with = "left", .combine = Combine::kMultiply});
  l.Output("place", {.target = "place", .loss = {.kind = LossKind::kMse}, .weight = 0.5},
           [](LayerList& o) { o.Dense({.units = 2}, "at"); });
  l.Save("both").Take("kind").Embedding({.vocabulary = 7, .units = 3}, "kinds");
  l.Join({.with = "both"});
  l.Output("color", {.target = "color", .weight = 2},
           [](LayerList& o) { o.Dense({.units = 3}, "of"); });
  l.Dense({.units = 5}, "last");
}

TEST_CASE("gradients come from every output and every use of a layer", "[graph]") {
  Model model = ExactBuilder(Smooth).Build();
  const std::vector<std::int64_t> samples = {3, 1, 4};
  model.TrainStep(samples);
  for (const char* path : {"tower.0.weight", "place.at.weight", "color.of.bias", "kinds.weight"}) {
    const std::vector<double> gradient = model.LastGradient(path);
    std::vector<double> values = model.Values(path);
    REQUIRE(gradient.size() == values.size());
    for (const std::size_t i : {std::size_t{0}, values.size() - 1}) {
      const double kept = values[i], step = 1e-6;
      const auto loss_at = [&](double value) {
        values[i] = value;
        model.SetValues(path, values);
        return model.TrainStep(samples).loss;
      };
      const double slope = (loss_at(kept + step) - loss_at(kept - step)) / (2 * step);
      loss_at(kept);
      INFO(path << " " << i);
      CHECK(gradient[i] == Approx(slope).epsilon(1e-5).margin(1e-9));
    }
  }
}

TEST_CASE("the loss is that of the first output and, weighted, of the others", "[graph]") {
  Model model = ExactBuilder(Smooth).Build();
  const std::vector<std::int64_t> samples = {0, 1};
  const StepResult step = model.TrainStep(samples);
  REQUIRE(step.outputs.size() == 3);
  CHECK(step.loss ==
        Approx(step.outputs[0].loss + 0.5 * step.outputs[1].loss + 2 * step.outputs[2].loss));
  const EvaluationResult evaluation = model.Evaluate();
  std::vector<std::string> names;
  for (const MetricValue& metric : evaluation.metrics) names.push_back(metric.name);
  CHECK(names ==
        std::vector<std::string>{"main_loss", "place_loss", "color_loss", "color_accuracy"});
  CHECK(evaluation.metrics[3].value >= 0);
  CHECK(evaluation.metrics[3].value <= 1);
}

TEST_CASE("all outputs are predicted", "[graph]") {
  Model model = RichBuilder({}).Build();
  const std::vector<float> left(2 * 128, 0.5F), right(2 * 128, -0.25F);
  const std::vector<std::int64_t> kinds = {6, 0};
  const std::vector<InputValues> inputs = {left, right, kinds};
  const PredictedValues all = model.PredictOutputs(inputs, 2);
  REQUIRE(all.size() == 3);
  CHECK(all[0].size() == 10);
  CHECK(all[1].size() == 4);
  CHECK(all[2].size() == 6);
  CHECK(all[0] == model.PredictInputs(inputs, 2));
}

TEST_CASE("lists inside lists find the values that they saved themselves", "[graph]") {
  const auto conv = [](LayerList& l, const std::string& name) {
    l.Conv2d({.filters = 2, .kernel = {1}}, name);
  };
  Model nested = BuilderFor({})
                     .Layers([&](LayerList& l) {
                       l.Save("a");
                       l.Sequential(
                           [&](LayerList& s) {
                             conv(s, "one");
                             s.Save("b");
                             conv(s, "two");
                             s.Join({.with = "b", .combine = Combine::kAdd});
                           },
                           "in");
                       l.Join({.with = "a", .combine = Combine::kMultiply}).Flatten();
                       l.Dense({.units = 5}, "last");
                     })
                     .Build();
  Model flat = BuilderFor({})
                   .Layers([&](LayerList& l) {
                     l.Save("a");
                     conv(l, "one");
                     l.Save("b");
                     conv(l, "two");
                     l.Join({.with = "b", .combine = Combine::kAdd});
                     l.Join({.with = "a", .combine = Combine::kMultiply}).Flatten();
                     l.Dense({.units = 5}, "last");
                   })
                   .Build();
  for (std::size_t i = 0; i < flat.parameters().size(); ++i) {
    nested.SetValues(nested.parameters()[i]->path, flat.Values(flat.parameters()[i]->path));
  }
  std::vector<float> image(128);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = 0.01F * static_cast<float>(i);
  CHECK(nested.Predict(image, 1) == flat.Predict(image, 1));
}

// Gives a color that is none.
struct WrongColors final : DataSource {
  std::int64_t count() const override { return inner->count(); }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    inner->Fill(samples, inputs, targets);
  }
  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override {
    inner->FillConditions(samples, conditions);
  }
  void FillMoreTargets(std::span<const std::int64_t> samples,
                       std::span<const Tensor> targets) const override {
    inner->FillMoreTargets(samples, targets);
    targets[1].values<std::int64_t>()[0] = 3;
  }
  std::shared_ptr<const DataSource> inner = SyntheticSources(RichLayout()).train;
};

TEST_CASE("a label of a further output that is no class is named", "[graph]") {
  Model model = BuilderFor({})
                    .Data(RichLayout(), {std::make_shared<WrongColors>()})
                    .Layers(Rich)
                    .Training({.evaluate = false})
                    .Build();
  CHECK_THAT(RefusalOf([&] { model.TrainStep(std::vector<std::int64_t>{4}); }),
             Contains("data, sample 4") && Contains("color labels lie in [0, 3); 3 was"));
}

std::string RefusalWith(const LayerList::Fill& fill, const DataLayout& layout = RichLayout()) {
  return RefusalOf(
      [&] { BuilderFor({}).Data(layout, SyntheticSources(layout)).Layers(fill).Plan(); });
}

void Ends(LayerList& l) { l.Flatten().Dense({.units = 5}); }

TEST_CASE("inputs and outputs that do not fit are refused in a sentence", "[graph]") {
  CHECK_THAT(RefusalWith(Ends), Contains("a layer reads each input that the data have; none reads "
                                         "'right'"));
  DataLayout two = SyntheticLayout();
  two.conditions = {{.name = "right", .shape = {8, 8, 2}}};
  const auto join = [](LayerList& l) { l.Join({.with = "right"}); };
  CHECK_THAT(RefusalWith([&](LayerList& l) { join(l), Ends(l); }, two), Contains(""));
  CHECK_THAT(RefusalWith([](LayerList& l) { l.Take("wrong"), Ends(l); }, two),
             Contains("model.layers.0 (take)") && Contains("'wrong', and 'right' is there"));
  DataLayout kind = SyntheticLayout();
  kind.conditions = {{.name = "kind", .role = InputRole::kLabel, .classes = 3}};
  CHECK_THAT(RefusalWith([](LayerList& l) { l.Join({.with = "kind"}), Ends(l); }, kind),
             Contains("a join is with values; 'kind' holds class or token numbers"));
  DataLayout more = SyntheticLayout();
  more.more_targets = {{.name = "place", .shape = {2}}};
  CHECK_THAT(RefusalWith(Ends, more), Contains("none is with 'place'"));
  const auto output = [](const NetworkOutputOptions& options, const std::string& name = "o") {
    return [=](LayerList& l) {
      l.Flatten().Output(name, options, [](LayerList& o) { o.Dense({.units = 2}); });
      l.Dense({.units = 5});
    };
  };
  CHECK_THAT(RefusalWith(output({.target = "size"}), more), Contains("they have 'place' beside"));
  CHECK_THAT(RefusalWith(output({.target = "place"}), more),
             Contains("which are values; loss.kind = \"cross_entropy\""));
  CHECK_THAT(RefusalWith(output({}), SyntheticLayout()),
             Contains("output 'o' ends in a number for each of its 5 classes; it is [8, 2]"));
  CHECK_THAT(RefusalWith(output({}, ""), SyntheticLayout()), Contains("an output has a name"));
  CHECK_THAT(
      RefusalWith(output({.loss = {.kind = LossKind::kCrossEntropy}}, "main"), SyntheticLayout()),
      Contains("the first one is called main"));
  CHECK_THAT(RefusalWith(output({.loss = {.ignore_index = 9}}), SyntheticLayout()),
             Contains("leave out the same one; output 'o' has loss.ignore_index = 9"));
  CHECK_THAT(RefusalWith([](LayerList& l) { l.Again("x"), Ends(l); }, SyntheticLayout()),
             Contains("model.layers.0 (again)") && Contains("give a layer before it a name"));
  CHECK_THAT(RefusalWith(
                 [](LayerList& l) {
                   l.Sequential([](LayerList& s) { s.Output("o").Flatten(); });
                   l.Dense({.units = 5});
                 },
                 SyntheticLayout()),
             Contains("outputs are in the network's own list of layers"));
}

TEST_CASE("files say outputs, and a loss of each", "[graph]") {
  const RunConfig config = ReadRunConfigText(R"(
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "output"
name = "early"
weight = 0.3
loss = { kind = "cross_entropy", label_smoothing = 0.1 }
layers = [{ type = "dense", units = 10 }]
[[model.layers]]
type = "dense"
units = 10
)",
                                             "outputs.toml");
  const auto* options = config.model.layers[1].options.As<NetworkOutputOptions>();
  REQUIRE(options != nullptr);
  CHECK(options->weight == 0.3);
  CHECK(options->loss.label_smoothing == 0.1);
  CHECK(config.model.layers[1].layers.size() == 1);
}

}  // namespace
}  // namespace frugal::testing
