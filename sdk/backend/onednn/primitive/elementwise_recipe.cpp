#include "sdk/backend/onednn/primitive/recipes.h"

namespace frugal::onednn {
Recipe MakeRecipe(const EltwiseDescription& d) {
  const Desc x = Describe({d.size}, Tag::a, d.dtype);
  const Eltwise function = EltwiseOf(d.kind, d.parameter);
  const auto engine = Processor();
  const auto forward = DescribeEltwise(engine, function, x);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  return {engine,
          DescribeEltwiseBackward(engine, function, x, forward),
          {{Slot::kSource, DNNL_ARG_SRC, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

Recipe MakeRecipe(const SoftmaxDescription& d) {
  constexpr int kColumns = 1;  // the axis
  const Desc x = Describe({d.rows, d.columns}, Tag::ab, d.dtype);
  const auto engine = Processor();
  if (!d.backward) {
    return {engine,
            DescribeSoftmax(engine, x, kColumns, d.logarithm),
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  return {engine,
          DescribeSoftmaxBackward(engine, x, kColumns, d.logarithm),
          {{Slot::kDestination, DNNL_ARG_DST, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

}  // namespace frugal::onednn
