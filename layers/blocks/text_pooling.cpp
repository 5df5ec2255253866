#include "layers/blocks/text_pooling.h"

#include <array>

#include "layers/blocks/text_mask.h"
#include "sdk/core/error.h"
#include "sdk/ops/attention.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/matmul.h"
#include "sdk/ops/reduce.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {

TextPooling::TextPooling(std::int64_t features, std::int64_t outputs, std::int64_t heads)
    : features_(features),
      heads_(heads),
      query_(features, {.units = features}),
      keys_and_values_(features, {.units = 2 * features}),
      output_(features, {.units = outputs}) {
  if (features % heads != 0) {
    throw ConfigError({.where = "text pooling",
                       .required = std::to_string(heads) + " heads divide the text's features",
                       .given = std::to_string(features),
                       .advice = "choose a multiple of " + std::to_string(heads)});
  }
  AddChild("to_kv", keys_and_values_);
  AddChild("to_q", query_);
  AddChild("to_out", output_);
}

Var TextPooling::operator()(Context& context, const Var& text, const Tensor& mask) {
  const Var mean =
      mask ? MatMul(context, MeanWeights(context, mask), text) : Mean(context, text, {1}, true);
  const std::array<Var, 2> parts = {mean, text};
  const Var both = keys_and_values_(context, Concat(context, parts, 1));
  const Var attended = Attention(context, {query_(context, mean)}, {both, 0}, {both, features_},
                                 {.heads = heads_,
                                  .key_heads = heads_,
                                  .head_size = features_ / heads_,
                                  .mask = mask ? KeyMask(context, mask, 1) : Tensor()});
  return output_(context, Reshape(context, attended, {text.shape()[0], features_}));
}

}  // namespace frugal
