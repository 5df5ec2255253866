#include "sdk/backend/onednn/recipes.h"

namespace frugal::onednn {
namespace {

using dnnl::prop_kind;

template <class Forward, class Backward>
Recipe DescribeSoftmaxAs(const SoftmaxDescription& d) {
  const Desc x = Describe({d.rows, d.columns}, Tag::ab, d.dtype);
  const auto engine = Processor();
  const typename Forward::primitive_desc forward({prop_kind::forward_training, x, 1}, Attributes(),
                                                 engine);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  const typename Backward::primitive_desc backward({x, x, 1}, Attributes(), engine, forward);
  return {engine,
          backward,
          {{Slot::kDestination, DNNL_ARG_DST, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

}  // namespace

Recipe MakeRecipe(const EltwiseDescription& d) {
  const Desc x = Describe({d.size}, Tag::a, d.dtype);
  const Eltwise function = EltwiseOf(d.kind, d.parameter);
  const auto engine = Processor();
  const dnnl::eltwise_forward::primitive_desc forward(
      {prop_kind::forward_training, function.kind, x, function.alpha}, Attributes(), engine);
  if (!d.backward) {
    return {engine,
            forward,
            {{Slot::kSource, DNNL_ARG_SRC, x, x}, {Slot::kDestination, DNNL_ARG_DST, x, x, true}}};
  }
  const dnnl::eltwise_backward::primitive_desc backward({function.kind, x, x, function.alpha},
                                                        Attributes(), engine, forward);
  return {engine,
          backward,
          {{Slot::kSource, DNNL_ARG_SRC, x, x},
           {Slot::kDestinationGradient, DNNL_ARG_DIFF_DST, x, x},
           {Slot::kSourceGradient, DNNL_ARG_DIFF_SRC, x, x, true}}};
}

Recipe MakeRecipe(const SoftmaxDescription& d) {
  return d.logarithm ? DescribeSoftmaxAs<dnnl::logsoftmax_forward, dnnl::logsoftmax_backward>(d)
                     : DescribeSoftmaxAs<dnnl::softmax_forward, dnnl::softmax_backward>(d);
}

}  // namespace frugal::onednn
