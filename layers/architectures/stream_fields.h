#pragma once

#include <string>
#include <utility>
#include <vector>

#include "layers/blocks/streams/stream_feed_forward.h"
#include "layers/blocks/streams/stream_projection.h"
#include "layers/types/family_row.h"

// Fields that several families of two streams have.
namespace frugal::architectures {

template <class C>
Field QueryKeyNormField() {
  return MakeChoice("qk_norm", &C::qk_norm, "What queries and keys go through, head by head.",
                    {{"none", QueryKeyNorm::kNone},
                     {"rms_norm", QueryKeyNorm::kRms},
                     {"layer_norm", QueryKeyNorm::kLayer}});
}

template <class C>
std::vector<Field> HeadFields() {
  return {CountField("num_layers", &C::num_layers, "Blocks."),
          SizeField("attention_head_dim", &C::attention_head_dim, "Features of a head."),
          SizeField("num_attention_heads", &C::num_attention_heads, "Heads.")};
}

// Returns the fields that come first, and behind them those of the family.
inline std::vector<Field> With(std::vector<Field> first, const std::vector<Field>& own) {
  first.insert(first.end(), own.begin(), own.end());
  return first;
}

template <class C>
Field FeedForwardField() {
  return MakeChoice("activation_fn", &C::activation_fn, "Between a block's two products.",
                    {{"gelu", FeedForwardKind::kGelu},
                     {"gelu-approximate", FeedForwardKind::kGeluTanh},
                     {"linear-silu", FeedForwardKind::kSiluLinear},
                     {"geglu", FeedForwardKind::kGeglu},
                     {"swiglu", FeedForwardKind::kSwiglu}});
}

// Returns the fields that the transformers of videos share.
template <class C>
std::vector<Field> VideoFields() {
  std::vector<Field> fields = HeadFields<C>();
  fields.push_back(SizeField("patch_size", &C::patch_size, "Height and width of a patch."));
  fields.push_back(SizeField("in_channels", &C::in_channels, "Of the latents."));
  fields.push_back(
      SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."));
  fields.push_back(SizeField("text_embed_dim", &C::text_embed_dim, "Features of the text."));
  fields.push_back(SizeField("time_embed_dim", &C::time_embed_dim, "Features of a time."));
  fields.push_back(FeedForwardField<C>());
  return fields;
}

}  // namespace frugal::architectures
