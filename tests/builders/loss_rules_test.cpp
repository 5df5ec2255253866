// Losses that do not fit their data, or their fields, get one sentence with the right advice.
#include "builders/config/loss_rules.h"

#include "builders/ai_model_builder.h"
#include "tests/io/temp_dir.h"
#include "tests/support/refusal.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

std::string Refused(const DataLayout& layout, const LossOptions& loss) {
  return RefusalOf([&] {
    AiModelBuilder builder;
    builder.Data(layout, SyntheticSources(layout)).Loss(loss).Training({.batch_size = 4});
    builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 5}); }).Plan();
  });
}

DataLayout WithTargets() {
  DataLayout layout = SyntheticLayout();
  layout.classes = 0;
  layout.target_shape = {5};
  return layout;
}

TEST_CASE("losses and targets that do not fit are told what does") {
  const std::string real = "give real targets: DataLayout{.classes = 0, .target_shape = ...}";
  CHECK(Refused(SyntheticLayout(), {.kind = LossKind::kMse}) ==
        "[loss] mse compares with real targets; the data have labels in [0, 5); use cross_entropy, "
        "focal or hinge, or " +
            real);
  for (const LossKind kind : {LossKind::kL1, LossKind::kHuber, LossKind::kBceWithLogits,
                              LossKind::kKlDivergence, LossKind::kCosine}) {
    CHECK(Refused(SyntheticLayout(), {.kind = kind}).ends_with(real));
    CHECK(Refused(WithTargets(), {.kind = kind}).empty());
  }
  CHECK(Refused(WithTargets(), {}) ==
        "[loss] cross_entropy compares with class labels; the data have real targets of shape [5] "
        "(DataLayout::classes is 0); use mse, l1, huber or another loss for real targets, or say "
        "how many DataLayout::classes there are");
  for (const LossKind kind : {LossKind::kFocal, LossKind::kHinge, LossKind::kCtc}) {
    CHECK(Refused(WithTargets(), {.kind = kind}).find("compares with class labels") !=
          std::string::npos);
  }
  CHECK(Refused(SyntheticLayout(), {.kind = LossKind::kTriplet}).find("nothing would read") !=
        std::string::npos);
}

TEST_CASE("weights are one for each class") {
  const std::string refusal = Refused(SyntheticLayout(), {.class_weights = {1, 2, 3}});
  CHECK(refusal ==
        "[loss] class_weights has a weight for each of the 5 classes; 3 were given; list them in "
        "the order of the classes");
  CHECK(Refused(SyntheticLayout(), {.class_weights = {0, 0, 0, 0, 0}}).find("above 0") !=
        std::string::npos);
  CHECK(Refused(SyntheticLayout(), {.class_weights = {1, 2, -1, 1, 1}}).find("class_weights") !=
        std::string::npos);
  CHECK(Refused(SyntheticLayout(), {.class_weights = {1, 2, 0, 1, 1}}).empty());
}

TEST_CASE("ctc asks for rows of labels and a blank among the classes") {
  DataLayout layout = SyntheticLayout();
  CHECK(Refused(layout, {.kind = LossKind::kCtc})
            .find("bring rows of labels: DataLayout::label_shape = {L}") != std::string::npos);
  CHECK(Refused(layout, {.kind = LossKind::kCtc, .blank = 5}) ==
        "[loss] the blank is one of the 5 classes; blank = 5; count the blank among "
        "DataLayout::classes");
  CHECK(RefusalOf([&] {
          AiModelBuilder builder;
          layout.label_shape = {2};
          layout.sample_shape = {7, 6};
          builder.Data(layout, SyntheticSources(layout)).Loss({.kind = LossKind::kCtc});
          builder.Metrics({"top_2"});
          builder.Layers([](LayerList& l) { l.Dense({.units = 5}); }).Plan();
        }).find("top_2 compares each row of outputs with its label") != std::string::npos);
}

TEST_CASE("a field of another loss is refused, and sample weights of a program's own loss") {
  CHECK(Refused(SyntheticLayout(), {.gamma = 3}).find("gamma belongs to the loss \"focal\"") !=
        std::string::npos);
  CHECK(Refused(SyntheticLayout(), {.margin = 3}).find("\"hinge\" or \"triplet\"") !=
        std::string::npos);
  CHECK(Refused(SyntheticLayout(), {.zero_infinity = true}).find("\"ctc\"") != std::string::npos);
  DataLayout layout = SyntheticLayout();
  layout.sample_weights = true;
  const auto own = [](Context& context, const Var& output, const Tensor& targets) {
    return CrossEntropy(context, output, targets);
  };
  CHECK(Refused(layout, {.function = own}).find("sample weights, which it would not see") !=
        std::string::npos);
}

TEST_CASE("losses of further outputs are held to the same") {
  const auto refused = [](const LossOptions& loss, std::int64_t parts = 1) {
    return RefusalOf([&] {
      const DataLayout layout = SyntheticLayout();
      AiModelBuilder builder;
      builder.Data(layout, SyntheticSources(layout));
      TrainingOptions training;
      training.batch_size = 4;
      training.gradient_accumulation_steps = parts;
      builder.Training(training);
      builder.Layers([&](LayerList& l) {
        l.Flatten().Output("aside", {.loss = loss}, [](LayerList& o) { o.Dense({.units = 5}); });
        l.Dense({.units = 5});
      });
      builder.Plan();
    });
  };
  CHECK(refused({.kind = LossKind::kFocal}, 2).empty());
  CHECK(refused({.class_weights = {1, 2}})
            .find("class_weights of output 'aside' has one for each "
                  "of the 5 classes; 2 were given") != std::string::npos);
  const LossOptions weighted = {.class_weights = {1, 2, 3, 4, 5}};
  CHECK(refused(weighted).empty());
  CHECK(refused(weighted, 2)
            .find("a step has 2 parts, and the loss of output 'aside' weighs labels "
                  "(class_weights)") != std::string::npos);
}

TEST_CASE("a source without the weights it promised says so") {
  DataLayout layout = SyntheticLayout();
  layout.sample_weights = true;
  AiModelBuilder builder;
  builder.Data(layout, SyntheticSources(layout)).Training({.batch_size = 4});
  builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 5}); });
  Model model = builder.Build();
  CHECK(RefusalOf([&] { model.Train(); }).find("override FillWeights") != std::string::npos);
}

TEST_CASE("keys of losses are read from a file") {
  const TempDir directory;
  const std::string text =
      "[loss]\nkind = \"focal\"\nclass_weights = [1, 0.5, 2.25]\ngamma = 3\nalpha = 0.25\n"
      "[[model.layers]]\ntype = \"flatten\"\n";
  const LossOptions loss =
      AiModelBuilder::FromToml(directory.Write("run.toml", text)).config().loss;
  CHECK(loss.kind == LossKind::kFocal);
  CHECK(loss.class_weights == std::vector<double>{1, 0.5, 2.25});
  CHECK(loss.gamma == 3);
  CHECK(loss.alpha == 0.25);
  CheckContains(MessageOf<ConfigError>([&] {
                  AiModelBuilder::FromToml(
                      directory.Write("bad.toml", "[loss]\nclass_weights = [1, \"two\"]\n"));
                }),
                "bad.toml:2:21: [loss] 'class_weights' must be a list of numbers");
}

}  // namespace
}  // namespace frugal::testing
