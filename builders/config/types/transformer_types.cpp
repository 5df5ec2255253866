#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

template <class T>
Field InitStdField(double T::*member) {
  return MakeField("init_std", member, "Of the normal distribution that the table starts from.",
                   {.min = 0, .formerly = "deviation"});
}

FieldTable EmbeddingTable() {
  using O = EmbeddingOptions;
  return MakeFieldTable<O>(
      "embedding",
      {MakeField("vocabulary", &O::vocabulary, "Tokens; a text of bytes has 256.",
                 SizeLimits(true)),
       MakeField("units", &O::units, "Output features.", Formerly("features", SizeLimits(true))),
       InitStdField(&O::init_std),
       MakeField("padding_token", &O::padding_token,
                 "A token whose row is not trained; none: all are.",
                 {.min = 0, .max = kMostPerAxis, .formerly = "padding"})});
}

FieldTable LearnedPositionsTable() {
  using O = PositionOptions;
  return MakeFieldTable<O>(
      "learned_positions",
      {MakeField("positions", &O::positions, "The longest sequence.", SizeLimits(true)),
       InitStdField(&O::init_std)});
}

FieldTable SinusoidalPositionsTable() {
  return MakeFieldTable<SinusoidOptions>(
      "sinusoidal_positions", {MakeField("base", &SinusoidOptions::base, "Of the wavelengths.",
                                         {.min = 0, .min_exclusive = true})});
}

FieldTable AttentionTable() {
  using O = AttentionLayerOptions;
  FieldLimits or_zero = SizeLimits();
  or_zero.min = 0;
  return MakeFieldTable<O>(
      "attention",
      {MakeField("heads", &O::heads, "Divides the features, unless head_size is given.",
                 SizeLimits()),
       MakeField("key_heads", &O::key_heads, "Divides heads; 0: as many. Fewer: grouped queries.",
                 or_zero),
       MakeField("head_size", &O::head_size, "Features of a head; 0: features / heads.", or_zero),
       MakeField("causal", &O::causal, "Whether a position sees only those up to itself."),
       MakeField("bias", &O::bias, "Whether the projections have biases."),
       MakeField("rotary_base", &O::rotary_base,
                 "Of the angles that queries and keys turn by; 0: they do not.", {.min = 0})});
}

FieldTable GatedFeedForwardTable() {
  using O = GatedFeedForwardOptions;
  return MakeFieldTable<O>(
      "gated_feed_forward",
      {MakeField("hidden", &O::hidden, "Features inside.", SizeLimits(true)),
       ActivationField("activation", &O::activation, "Of the gate: silu is SwiGLU, gelu GEGLU."),
       MakeField("bias", &O::bias, "Whether the three products have biases.")});
}

}  // namespace

std::vector<LayerType> TransformerTypes() {
  return {RowOf<EmbeddingOptions>(EmbeddingTable(), OfOptions<TokenEmbedding>),
          RowOf<PositionOptions>(LearnedPositionsTable(), OfFeatures<LearnedPositions>),
          RowOf<SinusoidOptions>(SinusoidalPositionsTable(), OfOptions<SinusoidalPositions>),
          RowOf<AttentionLayerOptions>(AttentionTable(), OfFeatures<AttentionLayer>),
          RowOf<GatedFeedForwardOptions>(GatedFeedForwardTable(), OfFeatures<GatedFeedForward>)};
}

}  // namespace frugal
