#include "builders/setup/network_inputs.h"

#include "tests/builders/diffusion_runs.h"

namespace frugal::testing {
namespace {

NetworkInputs Inputs() {
  return {{.name = "x", .role = InputRole::kSample, .shape = {8, 8, 2}, .free_axes = {0, 1}},
          {.name = "t", .role = InputRole::kTime},
          {.name = "y", .role = InputRole::kLabel, .classes = 6}};
}

NetworkInput Context(std::int64_t tokens) {
  return {.name = "context", .shape = {tokens, 16}, .free_axes = {0}};
}

NetworkInputs Resolved(NetworkInputs inputs, const DataLayout& layout,
                       const DiffusionProcess* diffusion) {
  Sequential network;
  network.SetInputs(std::move(inputs));
  return ResolveInputs(network, layout, diffusion);
}

const DiffusionProcess& Flow() {
  static const DiffusionProcess process({.kind = DiffusionKind::kFlow});
  return process;
}

std::string Refusal(const NetworkInputs& inputs, const DataLayout& layout,
                    const DiffusionProcess* diffusion = &Flow()) {
  return MessageOf<ConfigError>([&] { Resolved(inputs, layout, diffusion); });
}

std::string PlanRefusal(const AiModelBuilder& builder) {
  return MessageOf<Error>([&] { builder.Plan(); });
}

TEST_CASE("a network of one input takes what the data have") {
  const NetworkInputs images = Resolved({}, SyntheticLayout(), nullptr);
  REQUIRE(images.size() == 1);
  CHECK(images[0].role == InputRole::kSample);
  CHECK(images[0].shape == Shape{8, 8, 2});
  const NetworkInputs text = Resolved({}, SyntheticTextLayout({}), nullptr);
  CHECK(text[0].role == InputRole::kTokens);
  CHECK(text[0].classes == 13);
}

TEST_CASE("inputs get the shapes of the data") {
  DataLayout layout = SyntheticLayout();
  layout.sample_shape = {12, 4, 2};
  const NetworkInputs drawn = Resolved(Inputs(), layout, &Flow());
  REQUIRE(drawn.size() == 3);
  CHECK(drawn[0].shape == Shape{12, 4, 2});
  layout.conditions = {Context(7)};
  const NetworkInputs conditioned =
      Resolved({Inputs()[0], Inputs()[1], Context(77)}, layout, &Flow());
  CHECK(conditioned[2].shape == Shape{7, 16});
}

TEST_CASE("what nothing provides is named") {
  CheckContains(Refusal({Inputs()[0], Inputs()[1], Context(77)}, SyntheticLayout()),
                "the network takes 'context' beside its first input; nothing provides it; bring "
                "data with conditions");
  const std::string without = Refusal(Inputs(), SyntheticLayout(), nullptr);
  CheckContains(without, "the network takes 't' beside its first input");
  CheckContains(without, "write [diffusion] with kind");
  DataLayout numbers = SyntheticLayout();
  numbers.classes = 0;
  numbers.target_shape = {3};
  CheckContains(Refusal(Inputs(), numbers), "the network takes 'y'");
  DataLayout many = SyntheticLayout();
  many.label_shape = {4};
  CheckContains(Refusal(Inputs(), many), "the network takes 'y'");
}

TEST_CASE("a label for each class, and one for none where labels are dropped") {
  NetworkInputs inputs = Inputs();
  inputs[2].classes = 5;
  const std::string few = Refusal(inputs, SyntheticLayout());
  CheckContains(few, "a label for each of the data's 5 classes and one for none");
  CheckContains(few, "input 'y' takes 5 labels");
  const DiffusionProcess keeps({.kind = DiffusionKind::kFlow, .label_dropout = 0});
  CHECK(Resolved(inputs, SyntheticLayout(), &keeps).size() == 3);
  inputs[2].classes = 4;
  CheckContains(Refusal(inputs, SyntheticLayout(), &keeps), "input 'y' takes 4 labels");
}

TEST_CASE("diffusion needs a network that takes a time") {
  const std::string advice = "use a noise predictor";
  CheckContains(Refusal({}, SyntheticLayout()), "it takes one input; " + advice);
  CheckContains(Refusal({Inputs()[0]}, SyntheticLayout()), "it takes one input; " + advice);
  CheckContains(Refusal({Inputs()[0], Inputs()[2]}, SyntheticLayout()), "it takes none");
  SmallRun run;
  CheckContains(PlanRefusal(BuilderFor(run).Diffusion(SmallFlow())), advice);
}

TEST_CASE("the data's conditions come in the network's order") {
  DataLayout layout = SyntheticLayout();
  const NetworkInput time = {.name = "t", .role = InputRole::kTime};
  layout.conditions = {Context(7), time};
  const std::string order = Refusal({Inputs()[0], time, Context(7)}, layout, nullptr);
  CheckContains(order, "the data's conditions are the network's inputs, in their order");
  layout.conditions = {time, Context(7)};
  CHECK(Resolved({Inputs()[0], time, Context(7)}, layout, nullptr).size() == 3);
  layout.conditions.push_back(Inputs()[2]);  // one too many
  CheckContains(Refusal({Inputs()[0], time, Context(7)}, layout, nullptr), "in their order");
}

TEST_CASE("diffusion that also predicts a variance is refused") {
  DitConfig config = SmallDit();
  config.learn_sigma = true;
  const std::string refusal = PlanRefusal(DrawingBuilder().Architecture(config));
  CheckContains(refusal, "in diffusion the network's output has the data's shape [8, 8, 8, 2]");
  CheckContains(refusal, "learn_sigma = false");
}

TEST_CASE("data that do not fit the network are refused") {
  DitConfig config = SmallDit();
  config.input_size = 16;
  CheckContains(PlanRefusal(DrawingBuilder().Architecture(config)), "input 'x' is [N, 16, 16, 2]");
  config = SmallDit();
  config.num_classes = 4;
  CheckContains(PlanRefusal(DrawingBuilder().Architecture(config)), "takes 5 labels");
  const DataLayout text = SyntheticTextLayout({});
  AiModelBuilder builder = DrawingBuilder();
  builder.Data(text, SyntheticSources(text));
  CHECK(PlanRefusal(builder) != "no error");
}

TEST_CASE("a diffusion's plan is its run, and parts of a batch draw the same") {
  AiModelBuilder builder = DrawingBuilder();
  const auto train = [&](std::int64_t accumulate) {
    TrainingOptions training = builder.config().training;
    training.gradient_accumulation_steps = accumulate;
    training.max_steps = 3;
    AiModelBuilder own = builder;
    Model model = own.Training(training).Build();
    const Plan plan = model.plan();
    const TrainingResult result = model.Train();
    CHECK(plan.peak_bytes == result.memory.peak_bytes);
    return result.losses;
  };
  const std::vector<double> whole = train(1);
  const std::vector<double> parts = train(3);
  REQUIRE(whole.size() == parts.size());
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(parts[i] == Approx(whole[i]).epsilon(1e-4));
}

TEST_CASE("evaluations of a diffusion repeat") {
  Model model = TrainedModel(DrawingBuilder());
  const double once = model.Evaluate().loss;
  CHECK(model.Evaluate().loss == once);
  CHECK(once > 0);
  CHECK_FALSE(model.Evaluate().accuracy);
}

}  // namespace
}  // namespace frugal::testing
