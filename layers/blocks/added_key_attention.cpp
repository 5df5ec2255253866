#include "layers/blocks/added_key_attention.h"

#include <array>

#include "layers/blocks/transformer_block.h"
#include "sdk/ops/attention.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"

namespace frugal {

AddedKeyAttention::AddedKeyAttention(const AddedKeyAttentionOptions& options)
    : options_(options),
      norm_(options.channels, {.groups = options.groups, .eps = options.eps}),
      text_norm_(options.text_features, {.eps = options.eps}),
      query_(options.channels, {.units = options.width}),
      added_(options.text_features, {.units = 2 * options.width}),
      output_(options.width, {.units = options.channels, .initializer = Initializer::Zero()}) {
  AddChild("group_norm", norm_);
  AddChild("norm_cross", text_norm_);
  AddChild("to_q", query_);
  if (options.over_pixels) {
    AddChild("to_kv", own_.emplace(options.channels, DenseOptions{.units = 2 * options.width}));
  }
  AddChild("add_kv_proj", added_);
  AddChild("to_out.0", output_);
}

std::string AddedKeyAttention::Describe() const {
  return std::string("attention over ") + (own_ ? "pixels and text " : "text ") +
         std::to_string(options_.channels) + ", " +
         std::to_string(options_.width / options_.head_size) + " heads";
}

Var AddedKeyAttention::KeysAndValues(Context& context, const Var& pixels, const Var& text) {
  const Var added = added_(context, text_norm_(context, text));
  if (!own_) return added;
  const std::array<Var, 2> parts = {(*own_)(context, pixels), added};
  return Concat(context, parts, 1);
}

Var AddedKeyAttention::operator()(Context& context, const Var& x, const Var& text) {
  const Shape image = x.shape();
  const Shape tokens = {image[0], image[1] * image[2], image[3]};
  const Var pixels = Reshape(context, norm_(context, x), tokens);
  const Var both = KeysAndValues(context, pixels, text);
  const std::int64_t heads = options_.width / options_.head_size;
  const Var h = Attention(context, {query_(context, pixels), 0}, {both, 0}, {both, options_.width},
                          {.heads = heads, .key_heads = heads, .head_size = options_.head_size});
  const Var sum = RunAndAdd(context, output_, h, Reshape(context, x, tokens));
  return Reshape(context, sum, image);
}

}  // namespace frugal
