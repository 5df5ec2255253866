#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

FieldTable DenseTable() {
  return MakeFieldTable<DenseOptions>(
      "dense", {MakeField("units", &DenseOptions::units, "Output features.", SizeLimits(true)),
                ActivationField("activation", &DenseOptions::activation, "Behind the product."),
                MakeField("bias", &DenseOptions::bias, "Whether a bias is added."),
                MakeTable("initializer", &DenseOptions::initializer,
                          "Of the weight; none: by the activation.", InitializerFields())});
}

FieldTable ActivationTable() {
  return MakeFieldTable<ActivationOptions>(
      "activation", {ActivationField("function", &ActivationOptions::function, "Which function.")});
}

FieldTable DropoutTable() {
  return MakeFieldTable<DropoutOptions>(
      "dropout", {MakeField("rate", &DropoutOptions::rate, "Probability that a value is dropped.",
                            {.min = 0, .max = 1, .max_exclusive = true})});
}

}  // namespace

std::vector<LayerType> BasicTypes() {
  return {RowOf<DenseOptions>(DenseTable(), OfFeatures<Dense>),
          RowOf<ActivationOptions>(ActivationTable(), OfOptions<ActivationLayer>),
          RowOf<DropoutOptions>(DropoutTable(), OfOptions<DropoutLayer>),
          RowOf<FlattenOptions>(MakeFieldTable<FlattenOptions>("flatten", {}),
                                OfNothing<FlattenLayer>)};
}

}  // namespace frugal
