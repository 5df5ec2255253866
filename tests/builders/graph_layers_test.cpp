// Networks that are no chains, made of lists: branches over one input, skips by name.
#include "builders/config/run_config_reader.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

// Three ways of seeing, side by side (arXiv 1409.4842), and a gate over them.
void Inception(LayerList& l) {
  l.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}}, "stem");
  l.Branches(
      {.combine = Combine::kConcat},
      [](LayerList& b) {
        b.Conv2d({.filters = 3, .kernel = {1}}, "one");
        b.Sequential(
            [](LayerList& s) {
              s.Conv2d({.filters = 2, .kernel = {1}}).BatchNorm({.relu = true});
              s.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}});
            },
            "three");
        b.MaxPool2d({.kernel = {3}, .stride = {1}, .padding = {1}}, "pool");
      },
      "mixed");
  l.Branches({.combine = Combine::kMultiply}, [](LayerList& b) {
    b.Conv2d({.filters = 6, .kernel = {1}});
    b.Conv2d({.filters = 6, .kernel = {1}, .activation = Activation::kSigmoid});
  });
  l.AdaptiveAveragePool2d().Flatten().Dense({.units = 5});
}

// Down and up again, with what was there on the way down; the stem is taken twice.
void UNet(LayerList& l) {
  l.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}}, "stem").Save("stem");
  l.MaxPool2d({.kernel = {2}}).Conv2d({.filters = 6, .kernel = {3}, .padding = {1}}).Save("half");
  l.MaxPool2d({.kernel = {2}}).Conv2d({.filters = 6, .kernel = {3}, .padding = {1}});
  l.Upsample().Join({.with = "half", .combine = Combine::kAdd});
  l.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}}).Upsample().Join({.with = "stem"});
  l.Conv2d({.filters = 4, .kernel = {1}}).Dropout(0.1);
  l.Join({.with = "stem", .combine = Combine::kMultiply});
  l.AdaptiveAveragePool2d().Flatten().Dense({.units = 5});
}

AiModelBuilder BuilderOf(const LayerList::Fill& fill, const TrainingMemoryConfig& memory = {}) {
  SmallRun run;
  run.memory = memory;
  run.threads = 1;
  return BuilderFor(run).Layers(fill);
}

TEST_CASE("networks that are no chains keep the promises", "[graph]") {
  for (const LayerList::Fill& fill : {LayerList::Fill(Inception), LayerList::Fill(UNet)}) {
    const TempDir directory;
    Model first = BuilderOf(fill).Build();
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
      Model model = BuilderOf(fill, memory).Build();
      const Trained trained = Train(model);
      CheckSame(expected, trained);
      if (memory.num_devices == 1) CheckPlanIsRun(trained.plan, trained.result, false);
    }
  }
}

TEST_CASE("branches come to what a residual does", "[graph]") {
  const auto body = [](LayerList& b) {
    b.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}}).Activation(Activation::kRelu);
  };
  const auto head = [](LayerList& l) { l.Flatten().Dense({.units = 5}, "head"); };
  Model residual = BuilderOf([&](LayerList& l) {
                     l.Residual({}, body, [](LayerList& s) {
                       s.Conv2d({.filters = 4, .kernel = {1}}, "around");
                     });
                     head(l);
                   }).Build();
  Model branches = BuilderOf([&](LayerList& l) {
                     l.Branches({.combine = Combine::kAdd}, [&](LayerList& b) {
                       b.Sequential(body, "body");
                       b.Conv2d({.filters = 4, .kernel = {1}}, "around");
                     });
                     head(l);
                   }).Build();
  REQUIRE(branches.parameters().size() == residual.parameters().size());
  for (std::size_t i = 0; i < residual.parameters().size(); ++i) {
    branches.SetValues(branches.parameters()[i]->path,
                       residual.Values(residual.parameters()[i]->path));
  }
  const std::vector<float> images(2 * residual.layout().sample_shape.ElementCount(), 0.25F);
  CHECK(branches.Predict(images, 2) == residual.Predict(images, 2));
  const std::vector<std::int64_t> samples = {0, 1};
  CHECK(branches.TrainStep(samples).loss == residual.TrainStep(samples).loss);
}

std::string WithLayers(const std::string& layers) {
  return layers +
         "[[model.layers]]\ntype = \"flatten\"\n[[model.layers]]\ntype = \"dense\"\n"
         "units = 10\n";
}

TEST_CASE("files say branches and skips", "[graph]") {
  const RunConfig config = ReadRunConfigText(WithLayers(R"(
[[model.layers]]
type = "save"
as = "image"
[[model.layers]]
type = "branches"
combine = "concat"
layers = [
  { type = "conv2d", filters = 4, kernel = 1 },
  { type = "sequential", name = "deep", layers = [
    { type = "conv2d", filters = 2, kernel = 3, padding = 1 },
    { type = "conv2d", filters = 4, kernel = 1 },
  ] },
]
[[model.layers]]
type = "join"
with = "image"
combine = "concat"
)"),
                                             "graph.toml");
  CHECK(config.model.layers[1].layers.size() == 2);
  CHECK(config.model.layers[2].options.As<JoinOptions>()->with == "image");
}

std::string ListRefusal(const LayerList::Fill& fill) {
  return RefusalOf([&] { BuilderOf(fill).Plan(); });
}

TEST_CASE("dangling names and shapes that do not meet are refused in their place", "[graph]") {
  CHECK_THAT(ListRefusal([](LayerList& l) { l.Save("a").Flatten().Dense({.units = 5}); }),
             Contains("model.layers.0 (save)") && Contains("no layer of this list reads 'a'"));
  CHECK_THAT(ListRefusal([](LayerList& l) { l.Flatten().Join({.with = "b"}).Dense({.units = 5}); }),
             Contains("model.layers.1 (join)") && Contains("nothing is there"));
  CHECK_THAT(ListRefusal([](LayerList& l) {
               l.Save("a").Save("a").Join({.with = "a"}).Flatten().Dense({.units = 5});
             }),
             Contains("model.layers.1 (save)") && Contains("is there already"));
  CHECK_THAT(ListRefusal([](LayerList& l) {
               l.Save("a").Conv2d({.filters = 4, .kernel = {3}});
               l.Join({.with = "a"}).Flatten().Dense({.units = 5});
             }),
             Contains("model.layers.2 (join)"));
  CHECK_THAT(ListRefusal([](LayerList& l) {
               l.Branches({.combine = Combine::kAdd}, [](LayerList& b) {
                 b.Conv2d({.filters = 4, .kernel = {1}});
                 b.Conv2d({.filters = 3, .kernel = {1}});
               });
               l.Flatten().Dense({.units = 5});
             }),
             Contains("model.layers.0 (branches)"));
  CHECK_THAT(ListRefusal([](LayerList& l) {
               l.Branches({}, [](LayerList&) {});
               l.Flatten().Dense({.units = 5});
             }),
             Contains("it holds at least one layer"));
}

}  // namespace
}  // namespace frugal::testing
