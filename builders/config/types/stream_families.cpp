#include "builders/config/types/architecture_families.h"
#include "builders/config/types/size_fields.h"

namespace frugal {
namespace {

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

// Rows that come before those of the family.
FieldTable With(std::vector<Field> first, FieldTable table) {
  table.fields.insert(table.fields.begin(), first.begin(), first.end());
  return table;
}

FieldTable MmditFields() {
  using C = MmditConfig;
  return With(
      HeadFields<C>(),
      MakeFieldTable<C>(
          "mmdit",
          {SizeField("sample_size", &C::sample_size, "Height and width of the latents."),
           SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
           SizeField("in_channels", &C::in_channels, "Of the latents."),
           SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."),
           SizeField("joint_attention_dim", &C::joint_attention_dim, "Features of the text."),
           SizeField("caption_projection_dim", &C::caption_projection_dim,
                     "Features of the text's stream, as of the image's."),
           SizeField("pooled_projection_dim", &C::pooled_projection_dim,
                     "Features of the pooled text."),
           SizeField("pos_embed_max_size", &C::pos_embed_max_size,
                     "Height and width of the table of positions, in patches."),
           MakeField("dual_attention_layers", &C::dual_attention_layers,
                     "Blocks where the image also attends to itself alone.",
                     {.min = 0, .max = 100000}),
           QueryKeyNormField<C>()}));
}

FieldTable FluxFields() {
  using C = FluxConfig;
  return With(
      HeadFields<C>(),
      MakeFieldTable<C>(
          "flux",
          {CountField("num_single_layers", &C::num_single_layers, "Blocks of one stream."),
           SizeField("patch_size", &C::patch_size, "Its square is a factor of the outputs."),
           SizeField("in_channels", &C::in_channels, "Of a token."),
           SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."),
           SizeField("joint_attention_dim", &C::joint_attention_dim, "Features of the text."),
           SizeField("pooled_projection_dim", &C::pooled_projection_dim,
                     "Features of the pooled text."),
           MakeField("guidance_embeds", &C::guidance_embeds,
                     "Whether the guidance's weight is an input."),
           MakeField("axes_dims_rope", &C::axes_dims_rope,
                     "Features of a head that each axis of positions turns.",
                     {.min = 0, .max = kMostPerAxis, .min_items = 3, .max_items = 3}),
           CountField("grid_height", &C::grid_height,
                      "Rows of tokens; 0: of the most square grid."),
           CountField("grid_width", &C::grid_width,
                      "Columns of tokens; 0: of the most square grid.")}));
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

template <class C>
Field ScaleField(std::string name, double C::*member) {
  return MakeField(std::move(name), member, "Neighbouring positions are one through this apart.",
                   {.min = 0, .min_exclusive = true});
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

FieldTable CogVideoXFields() {
  using C = CogVideoXConfig;
  return With(
      VideoFields<C>(),
      MakeFieldTable<C>(
          "cogvideox",
          {MakeField("flip_sin_to_cos", &C::flip_sin_to_cos, "Whether cosines come first."),
           MakeField("freq_shift", &C::freq_shift, "Of the sinusoids' frequencies.", {.min = 0}),
           MakeField("attention_bias", &C::attention_bias,
                     "Whether queries, keys and values have biases."),
           SizeField("sample_width", &C::sample_width, "Width of the latents."),
           SizeField("sample_height", &C::sample_height, "Height of the latents."),
           SizeField("sample_frames", &C::sample_frames, "Frames of the video."),
           SizeField("temporal_compression_ratio", &C::temporal_compression_ratio,
                     "Frames of the video for one of the latents."),
           SizeField("max_text_seq_length", &C::max_text_seq_length, "Tokens of text."),
           MakeField("norm_elementwise_affine", &C::norm_elementwise_affine,
                     "Whether norms have weights and biases."),
           EpsilonField("norm_eps", &C::norm_eps),
           ScaleField("spatial_interpolation_scale", &C::spatial_interpolation_scale),
           ScaleField("temporal_interpolation_scale", &C::temporal_interpolation_scale)}));
}

FieldTable AsymmDitFields() {
  using C = AsymmDitConfig;
  return With(
      VideoFields<C>(),
      MakeFieldTable<C>("asymmdit", {SizeField("pooled_projection_dim", &C::pooled_projection_dim,
                                               "Features of the text's stream."),
                                     QueryKeyNormField<C>(),
                                     SizeField("max_sequence_length", &C::max_sequence_length,
                                               "Tokens of text that plans assume.")}));
}

FieldTable EmmditFields() {
  using C = EmmditConfig;
  return With(HeadFields<C>(),
              MakeFieldTable<C>(
                  "emmdit",
                  {SizeField("sample_size", &C::sample_size, "Height and width of the latents."),
                   SizeField("patch_size", &C::patch_size, "Height and width of a patch: 1."),
                   SizeField("in_channels", &C::in_channels, "Of the latents."),
                   SizeField("out_channels", &C::out_channels, "Of the output; none: in_channels."),
                   SizeField("caption_channels", &C::caption_channels, "Features of the text."),
                   SizeField("caption_projection_dim", &C::caption_projection_dim,
                             "Features of the text's stream, as of the image's."),
                   SizeField("pos_embed_max_size", &C::pos_embed_max_size,
                             "Height and width of the table of positions, in patches."),
                   MakeField("use_sub_attn", &C::use_sub_attn,
                             "Whether two of three blocks attend within parts of the tokens."),
                   QueryKeyNormField<C>()}));
}

}  // namespace

std::vector<ArchitectureFamily> StreamFamilies() {
  return {RowOf<MmditConfig>("mmdit", MmditFields(), MakeMmdit),
          RowOf<FluxConfig>("flux", FluxFields(), MakeFlux),
          RowOf<CogVideoXConfig>("cogvideox", CogVideoXFields(), MakeCogVideoX),
          RowOf<AsymmDitConfig>("asymmdit", AsymmDitFields(), MakeAsymmDit),
          RowOf<EmmditConfig>("emmdit", EmmditFields(), MakeEmmdit)};
}

}  // namespace frugal
