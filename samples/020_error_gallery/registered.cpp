#include <algorithm>

#include "builders/config/dataset_registry.h"
#include "builders/config/types/optimizer_registry.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

struct SignOptions {
  double share = 0.9;
};

OptimizerRule SignRule() {
  return {.name = "sign",
          .states = [](const OptimizerOptions&) { return std::size_t{1}; },
          .update = [](Backend&, const OptimizerOptions&, const UpdateCall&) {}};
}

struct StripesOptions {
  std::int64_t count = 4;
};

// Four samples of a data set that announces as many as its options say.
struct FourStripes final : DataSource {
  std::int64_t count() const override { return 4; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& labels) const override {
    std::ranges::fill(inputs.values<float>(), 0.5F);
    std::ranges::transform(samples, labels.data<std::int64_t>(),
                           [](std::int64_t sample) { return sample % 3; });
  }
};

OwnDataset<StripesOptions> Stripes() {
  return {
      .name = "stripes",
      .fields = {MakeField("count", &StripesOptions::count, "Samples of each part.")},
      .layout =
          [](const StripesOptions& options) {
            DataLayout layout;
            layout.sample_shape = {4, 4, 1};
            layout.classes = 3;
            layout.train_count = layout.test_count = options.count;
            return layout;
          },
      .open = [](const StripesOptions&, DatasetPart) { return std::make_shared<FourStripes>(); }};
}

// Registered as late as here, these names are in no message of another chapter.
void RegisterOnce() {
  static const bool is_done = [] {
    RegisterOptimizer<SignOptions>(
        SignRule(), {MakeField("share", &SignOptions::share, "Share of the momentum that is kept.",
                               {.min = 0, .max = 1})});
    RegisterDataset(Stripes());
    return true;
  }();
  static_cast<void>(is_done);
}

Case After(const Case& one) {
  return {one.title, one.input, [action = one.action] {
            RegisterOnce();
            action();
          }};
}

// A model of one dense layer on stripes.
AiModelBuilder OnStripes(const StripesOptions& options) {
  AiModelBuilder builder;
  builder.Data({.dataset = "stripes", .options = options}).Training({.batch_size = 2});
  builder.Layers([](LayerList& layers) { layers.Flatten().Dense({.units = 3}, "head"); });
  return builder;
}

void Plan(const OptimizerOptions& options) {
  WriteTinyData();
  TinyTraining().Optimizer(options).Plan();
}

}  // namespace

Chapter Registered() {
  Chapter chapter{"Parts that a program registers", {}};
  for (const Case& one : {
           FromToml("A registered optimizer with a typo", "[optimizer]\nkind = \"sing\"\n"),
           FromToml("An option that a registered optimizer lacks",
                    "[optimizer]\nkind = \"sign\"\n[optimizer.sign]\nshaer = 0.8\n"),
           FromToml("An option of a registered optimizer out of range",
                    "[optimizer]\nkind = \"sign\"\nsign.share = 1.5\n"),
           FromToml("Options of a registered optimizer beside another one",
                    "[optimizer]\nkind = \"adamw\"\nsign.share = 0.8\n"),
           FromToml("Narrow state for a registered optimizer that has none",
                    "[optimizer]\nkind = \"sign\"\nstate = \"bf16\"\n"),
           Case{"Options of a registered optimizer for ours",
                "builder.Optimizer({.kind = OptimizerKind::kSgd, .options = SignOptions{}})",
                [] { Plan({.kind = OptimizerKind::kSgd, .options = SignOptions()}); }},
           Case{"Two optimizers of one name", "Optimizers().Add({.name = \"adamw\", ...})",
                [] {
                  OptimizerRule rule = SignRule();
                  rule.name = "adamw";
                  Optimizers().Add(rule);
                }},
           Case{"An optimizer named as a key",
                "RegisterOptimizer<SignOptions>({.name = \"lr\", ...})",
                [] {
                  OptimizerRule rule = SignRule();
                  rule.name = "lr";
                  RegisterOptimizer<SignOptions>(rule, {});
                }},
           FromToml("A registered data set with a typo", "[data]\ndataset = \"stirpes\"\n"),
           FromToml("An option that a registered data set lacks",
                    "[data]\ndataset = \"stripes\"\nstripes.cuont = 4\n"),
           FromToml("Options of a registered data set beside another one",
                    "[data]\ndataset = \"fashion-mnist\"\nstripes.count = 4\n"),
           FromToml("Sizes of images beside a registered data set",
                    "[data]\ndataset = \"stripes\"\nclasses = 3\n"),
           Case{"A registered data set without samples", "StripesOptions{.count = 0}",
                [] { OnStripes({.count = 0}).Plan(); }},
           Case{"A registered data set of another number of samples",
                "StripesOptions{.count = 6} with a source of 4",
                [] { OnStripes({.count = 6}).Build().Train(); }},
           Case{"Two data sets of one name", "RegisterDataset<StripesOptions>({\"stripes\"}) again",
                [] { RegisterDataset(Stripes()); }},
       }) {
    chapter.cases.push_back(After(one));
  }
  return chapter;
}

}  // namespace frugal::gallery
