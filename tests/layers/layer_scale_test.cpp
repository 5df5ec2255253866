#include "layers/layer_scale.h"

#include "builders/config/run_config_reader.h"
#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

constexpr const char* kToml = R"(
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "layer_scale"
name = "gamma"
start = 0.25
[[model.layers]]
type = "dense"
units = 5
)";

TEST_CASE("a file lists a layer scale, whose weights start as it says") {
  SmallRun run;
  run.network = "mlp";
  Model model =
      BuilderFor(run)
          .Layers([](LayerList& l) {
            l.Flatten().Add(LayerScaleOptions{.start = 0.25}, "gamma").Dense({.units = 5});
          })
          .Build();
  const RunConfig config = ReadRunConfigText(kToml, "scale.toml");
  CHECK(config.model.layers[1].options.As<LayerScaleOptions>()->start == 0.25);
  for (const double weight : model.Values("gamma.weight")) CHECK(weight == 0.25);
  model.Train();
  CHECK(model.Values("gamma.weight").front() != 0.25);
}

}  // namespace
}  // namespace frugal::testing
