#include "layers/pool2d.h"

#include "layers/describe.h"
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

}  // namespace frugal
