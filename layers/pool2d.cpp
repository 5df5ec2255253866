#include "layers/pool2d.h"

#include "layers/describe.h"
#include "layers/types/row.h"
#include "sdk/ops/spatial/pool.h"

namespace frugal {

Pool2d::Pool2d(PoolKind pool_kind, const Pool2dOptions& options)
    : pool_kind_(pool_kind),
      count_padding_(options.count_padding),
      window_(ToWindow({options.kernel, options.stride, options.padding, {}}, options.kernel,
                       {"pooling", 2})) {}

std::string Pool2d::Describe() const {
  return std::string(pool_kind_ == PoolKind::kMax ? "max_pool2d " : "avg_pool2d ") +
         DescribeWindow(window_, 2);
}

Var Pool2d::Forward(Context& context, const Var& input) {
  if (pool_kind_ == PoolKind::kMax) return MaxPool(context, input, window_);
  return AveragePool(context, input, window_, count_padding_);
}

AdaptiveAveragePool2d::AdaptiveAveragePool2d(const AdaptivePool2dOptions& options)
    : output_(SpreadOverAxes(options.output, "output", 1, 1, {"adaptive_avg_pool2d", 2})) {}

std::string AdaptiveAveragePool2d::Describe() const {
  return "adaptive_avg_pool2d to " + std::to_string(output_[1]) + "x" + std::to_string(output_[2]);
}

Var AdaptiveAveragePool2d::Forward(Context& context, const Var& input) {
  return AdaptiveAveragePool(context, input, output_);
}

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

template <PoolKind kKind, class Options>
std::unique_ptr<Layer> PoolOf(std::int64_t, const Options& options) {
  return std::make_unique<Pool2d>(kKind, options);
}

}  // namespace

LayerType MaxPool2dType() {
  return RowOf<MaxPool2dOptions>("max_pool2d", PoolFields(), PoolOf<PoolKind::kMax>);
}

LayerType AveragePool2dType() {
  std::vector<Field> fields = PoolFields();
  fields.push_back(MakeField("count_padding", &Pool2dOptions::count_padding,
                             "Whether padded zeros count in the mean."));
  return RowOf<AveragePool2dOptions>("avg_pool2d", fields, PoolOf<PoolKind::kAverage>);
}

LayerType AdaptiveAveragePool2dType() {
  return RowOf<AdaptivePool2dOptions>(
      "adaptive_avg_pool2d",
      {MakeField("output", &AdaptivePool2dOptions::output, "Height and width of the result.",
                 PerAxisLimits(1, 2))},
      OfOptions<AdaptiveAveragePool2d>);
}

}  // namespace frugal
