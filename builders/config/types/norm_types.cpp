#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

template <class T>
Field EpsilonField() {
  return MakeField("eps", &T::eps, "Added to the variance.",
                   {.min = 0, .min_exclusive = true, .formerly = "epsilon"});
}

template <class T>
Field AffineField() {
  return MakeField("affine", &T::affine, "Whether it learns a scale and a shift.");
}

FieldTable BatchNormTable() {
  return MakeFieldTable<BatchNormOptions>(
      "batch_norm",
      {EpsilonField<BatchNormOptions>(),
       MakeField("momentum", &BatchNormOptions::momentum,
                 "Weight of the newest batch in the running statistics.", {.min = 0, .max = 1}),
       AffineField<BatchNormOptions>(),
       MakeField("relu", &BatchNormOptions::relu, "A ReLU in the same pass.")});
}

FieldTable LayerNormTable() {
  return MakeFieldTable<LayerNormOptions>(
      "layer_norm", {EpsilonField<LayerNormOptions>(), AffineField<LayerNormOptions>()});
}

FieldTable RmsNormTable() {
  return MakeFieldTable<RmsNormOptions>(
      "rms_norm", {MakeField("eps", &RmsNormOptions::eps, "Added to the mean square.",
                             {.min = 0, .min_exclusive = true, .formerly = "epsilon"}),
                   MakeField("affine", &RmsNormOptions::affine, "Whether it learns a scale.")});
}

FieldTable GroupNormTable() {
  return MakeFieldTable<GroupNormOptions>(
      "group_norm", {MakeField("groups", &GroupNormOptions::groups,
                               "Channels are split into so many groups.", SizeLimits()),
                     EpsilonField<GroupNormOptions>(), AffineField<GroupNormOptions>()});
}

}  // namespace

std::vector<LayerType> NormTypes() {
  return {RowOf<BatchNormOptions>(BatchNormTable(), OfFeatures<BatchNormLayer>),
          RowOf<LayerNormOptions>(LayerNormTable(), OfFeatures<LayerNormLayer>),
          RowOf<RmsNormOptions>(RmsNormTable(), OfFeatures<RmsNormLayer>),
          RowOf<GroupNormOptions>(GroupNormTable(), OfFeatures<GroupNormLayer>)};
}

}  // namespace frugal
