#include "builders/config/text/config_values.h"

#include <algorithm>

#include "builders/config/layer_list.h"
#include "builders/report/rows/layer_times.h"
#include "tests/catch.h"

namespace frugal {
namespace {

const ResolvedValue& Find(const std::vector<ResolvedValue>& values, std::string_view section,
                          std::string_view name) {
  const auto found = std::ranges::find_if(values, [&](const ResolvedValue& value) {
    return value.section == section && value.name == name;
  });
  REQUIRE(found != values.end());
  return *found;
}

}  // namespace

TEST_CASE("All values have their origin, those of nested layers too") {
  RunConfig config;
  config.memory.max_pool_memory_mb = 7;
  config.origins.Set("memory.max_pool_memory_mb", Origin::At({"a/b.toml", 3, 1}));
  LayerSpec dense{.options = DenseOptions{.units = 5}, .name = "", .layers = {}, .shortcut = {}};
  config.model.layers = {
      {.options = SequentialOptions(), .name = "", .layers = {dense}, .shortcut = {dense}}};
  config.origins.Set("model.layers.0.layers.0.units", Origin::At({"a/b.toml", 9, 1}));
  const auto values = AllValues(config);
  CHECK(values.front().section == "memory");
  CHECK(BriefText(Find(values, "memory", "max_pool_memory_mb").origin) == "b.toml:3");
  CHECK(Find(values, "training", "epochs").origin.kind == OriginKind::kDefault);
  const ResolvedValue& units = Find(values, "model.layers.0.layers.0 dense", "units");
  CHECK(units.value == Value{std::int64_t{5}});
  CHECK(BriefText(units.origin) == "b.toml:9");
  CHECK(IsOfLayer(units));
  // Given in code, since no file names it.
  CHECK(Find(values, "model.layers.0.shortcut.0 dense", "units").origin.kind == OriginKind::kCode);
  CHECK(Find(values, "model.layers.0.shortcut.0 dense", "bias").origin.kind ==
        OriginKind::kDefault);
}

TEST_CASE("Origins without a file are told as they are") {
  CHECK(BriefText(Origin::Default()) == "default");
  CHECK(BriefText(Origin::Preset("ForConvNets", {"a/b.toml", 3, 1})) == "preset ForConvNets");
  CHECK(BriefText(Origin::At({"--set a=1", 0, 0})) == "--set");
}

TEST_CASE("Times inside a layer count for it, and only there") {
  const std::vector<LayerPlan> layers = {LayerPlan{.path = "1", .description = {}, .output = {}},
                                         LayerPlan{.path = "10", .description = {}, .output = {}}};
  const LayerTimes times = TimesByLayer(
      layers, {{"1", 1, 10, 1, 5}, {"1.0", 2, 20, 1, 9}, {"10", 4, 0, 1, 1}, {"loss", 8, 0, 1, 1}});
  CHECK(times.layers[0].seconds == 3);
  CHECK(times.layers[0].flops == 30);
  CHECK(times.layers[0].launches == 2);
  CHECK(times.layers[0].peak_live_bytes == 9);
  CHECK(times.layers[1].seconds == 4);
  REQUIRE(times.others.size() == 1);
  CHECK(times.others[0].label == "loss");
  CHECK(times.seconds == 15);
  CHECK(TimesByLayer({}, {}).layers.empty());
}

}  // namespace frugal
