#include "builders/config/value_check.h"

#include "builders/ai_model_builder.h"
#include "builders/config/types/layer_registry.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

std::string Found(const LayerList::Fill& fill) {
  AiModelBuilder builder;
  builder.Layers(fill);
  Diagnostics diagnostics;
  CheckValues(builder.config(), diagnostics);
  return diagnostics.empty() ? "nothing" : diagnostics.Lines().front();
}

TEST_CASE("defaults have no wrong values") {
  CHECK(Found({}) == "nothing");
  CHECK(Found([](LayerList& layers) {
          layers.Conv2d({.filters = 1, .kernel = {3}})
              .MaxPool2d({.kernel = {2}})
              .AveragePool2d({.kernel = {2}})
              .AdaptiveAveragePool2d()
              .BatchNorm()
              .LayerNorm()
              .GroupNorm()
              .Dropout(0.5)
              .Activation(Activation::kRelu)
              .Flatten()
              .Conv1d({.filters = 1, .kernel = {3}})
              .Conv3d({.filters = 1, .kernel = {3, 3, 3}})
              .ConvTranspose2d({.filters = 1, .kernel = {3}})
              .Upsample()
              .RmsNorm()
              .ToSequence()
              .Lstm({.units = 1})
              .Gru({.units = 1})
              .SequencePool()
              .Residual({}, [](LayerList& body) { body.Dense({.units = 1}); });
        }) == "nothing");
}

TEST_CASE("values of layers are checked at every depth") {
  CheckContains(Found([](LayerList& layers) { layers.Dense({}); }), "[model.layers.0 (dense)]");
  CheckContains(Found([](LayerList& layers) {
                  layers.Flatten().Residual(
                      {}, [](LayerList& body) { body.Dense({.units = 1}); },
                      [](LayerList& shortcut) { shortcut.Dropout(1.0); });
                }),
                "'rate' must be a number >= 0 and < 1");
  CheckContains(Found([](LayerList& layers) {
                  layers.Sequential([](LayerList& inner) {
                    inner.Conv2d({.filters = 1, .kernel = {3, 3, 3}});
                  });
                }),
                "'kernel' must be");
}

TEST_CASE("values of sections are checked") {
  RunConfig config;
  config.training.epochs = 0;
  config.optimizer.lr = -1;
  config.data.sample_shape = std::vector<std::int64_t>{28};
  Diagnostics diagnostics;
  CheckValues(config, diagnostics);
  CHECK(diagnostics.size() == 3);
}

}  // namespace
}  // namespace frugal::testing
