#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

std::vector<Field> PoolFields() {
  FieldLimits stride = PerAxisLimits(1, 2);
  stride.min_items = 0;  // the kernel
  return {MakeField("kernel", &Pool2dOptions::kernel, "Height and width, or one for both.",
                    PerAxisLimits(1, 2, true)),
          MakeField("stride", &Pool2dOptions::stride, "Step of the window; not given: the kernel.",
                    stride),
          MakeField("padding", &Pool2dOptions::padding, "On each side.", PerAxisLimits(0, 2))};
}

FieldTable AveragePoolTable() {
  std::vector<Field> fields = PoolFields();
  fields.push_back(MakeField("count_padding", &Pool2dOptions::count_padding,
                             "Whether padded zeros count in the mean."));
  return MakeFieldTable<AveragePool2dOptions>("avg_pool2d", fields);
}

FieldTable AdaptiveTable() {
  return MakeFieldTable<AdaptivePool2dOptions>(
      "adaptive_avg_pool2d", {MakeField("output", &AdaptivePool2dOptions::output,
                                        "Height and width of the result.", PerAxisLimits(1, 2))});
}

FieldTable UpsampleTable() {
  return MakeFieldTable<UpsampleOptions>(
      "upsample",
      {MakeField("factor", &UpsampleOptions::factor, "Height and width grow by it.",
                 {.min = 1, .max = kMostFactor}),
       MakeChoice("mode", &UpsampleOptions::mode, "How values between are found.",
                  {{"nearest", Upsampling::kNearest}, {"bilinear", Upsampling::kBilinear}})});
}

template <PoolKind kKind, class Options>
std::unique_ptr<Layer> PoolOf(std::int64_t, const Options& options) {
  return std::make_unique<Pool2d>(kKind, options);
}

}  // namespace

std::vector<LayerType> PoolingTypes() {
  return {RowOf<MaxPool2dOptions>(MakeFieldTable<MaxPool2dOptions>("max_pool2d", PoolFields()),
                                  PoolOf<PoolKind::kMax>),
          RowOf<AveragePool2dOptions>(AveragePoolTable(), PoolOf<PoolKind::kAverage>),
          RowOf<AdaptivePool2dOptions>(AdaptiveTable(), OfOptions<AdaptiveAveragePool2d>),
          RowOf<UpsampleOptions>(UpsampleTable(), OfOptions<UpsampleLayer>)};
}

}  // namespace frugal
