#include "builders/plan/model_list.h"

#include <algorithm>

#include "builders/plan/named_model.h"
#include "presets/model_presets.h"

namespace frugal {
namespace {

constexpr std::int64_t kBytesOfF32 = 4;

ModelListing ListingOf(const ModelPreset& preset, const std::string& memory_preset) {
  const Blueprint blueprint =
      PlanNamedModel(std::string(preset.name), {"memory.preset=" + memory_preset});
  ModelListing listing{.name = std::string(preset.name),
                       .family = FamilyOf(*blueprint.config.model.architecture).name,
                       .parameters = blueprint.plan.parameter_count,
                       .train_bytes = blueprint.plan.peak_bytes,
                       .published = PublishedAs(preset.name)};
  for (const Parameter* parameter : blueprint.parameters) {
    listing.held_bytes += kBytesOfF32 * parameter->shape.ElementCount();
  }
  return listing;
}

}  // namespace

std::vector<ModelListing> ListModels(const std::string& memory_preset) {
  std::vector<ModelListing> models;
  for (const ModelPreset& preset : ModelPresets()) {
    models.push_back(ListingOf(preset, memory_preset));
  }
  std::ranges::sort(models, {}, &ModelListing::name);
  return models;
}

}  // namespace frugal
