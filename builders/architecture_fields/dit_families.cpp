#include "builders/architecture_fields/families.h"
#include "builders/architecture_fields/size_fields.h"

namespace frugal {
namespace {

template <class C>
FieldTable DitFields(std::string name) {
  return MakeFieldTable<C>(
      std::move(name),
      {SizeField("input_size", &C::input_size, "Height and width of the latents."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("in_channels", &C::in_channels, "Of the latents."),
       SizeField("hidden_size", &C::hidden_size, "Features."),
       CountField("depth", &C::depth, "Blocks."), SizeField("num_heads", &C::num_heads, "Heads."),
       RatioField("mlp_ratio", &C::mlp_ratio),
       RateField("class_dropout_prob", &C::class_dropout_prob,
                 "Above 0: one more label, for no class."),
       SizeField("num_classes", &C::num_classes, "Classes."),
       MakeField("learn_sigma", &C::learn_sigma, "Whether it predicts a variance too.")});
}

}  // namespace

std::vector<ArchitectureFamily> DitFamilies() {
  return {{"dit", DitConfig(), DitFields<DitConfig>("dit")},
          {"sit", SitConfig(), DitFields<SitConfig>("sit")}};
}

}  // namespace frugal
