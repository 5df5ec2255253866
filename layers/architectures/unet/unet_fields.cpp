#include "layers/architectures/unet/unet_fields.h"

#include "layers/architectures/unet/controlnet_config.h"
#include "layers/architectures/unet/unet_trunk.h"

namespace frugal::architectures {

std::vector<Field> TrunkFields() {
  using C = UNetTrunkConfig;
  return {
      SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
      SizeField("in_channels", &C::in_channels, "Of what comes in."),
      MakeField("down_block_types", &C::down_block_types,
                "DownBlock2D or CrossAttnDownBlock2D for each stage.", kTypes),
      MakeChoice("mid_block_type", &C::mid_block_type, "What lies between down and up.",
                 {{"UNetMidBlock2DCrossAttn", UNetMiddleType::kCrossAttention},
                  {"UNetMidBlock2D", UNetMiddleType::kResnet},
                  {"none", UNetMiddleType::kNone}}),
      MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
      BlocksField(&C::layers_per_block),
      MakeField("transformer_layers_per_block", &C::transformer_layers_per_block,
                "Transformer blocks behind a residual block.", kTransformerBlocks),
      MakeField("cross_attention_dim", &C::cross_attention_dim, "Features of the context.",
                kPerStage),
      MakeField("attention_head_dim", &C::attention_head_dim,
                "Heads (sic) of each stage's attention.", kPerStage),
      MakeField("only_cross_attention", &C::only_cross_attention,
                "Whether stages attend to the context only."),
      MakeField("use_linear_projection", &C::use_linear_projection,
                "Whether transformers begin and end in products, not 1x1 convolutions."),
      SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
      EpsilonField("norm_eps", &C::norm_eps),
      MakeField("flip_sin_to_cos", &C::flip_sin_to_cos, "Cosines before sines in time features."),
      ShiftField(&C::freq_shift),
      PaddingField(&C::downsample_padding),
      ClassesField(&C::num_class_embeds),
      MakeChoice("addition_embed_type", &C::addition_embed_type,
                 "What is added to the time: nothing, or a text's features and numbers.",
                 {{"none", AddedEmbedding::kNone}, {"text_time", AddedEmbedding::kTextTime}}),
      SizeField("addition_time_embed_dim", &C::addition_time_embed_dim, "Sinusoids of a number."),
      SizeField("projection_class_embeddings_input_dim", &C::projection_class_embeddings_input_dim,
                "Features of the text and of the numbers together.")};
}

std::vector<Field> HintedFields() {
  using C = ControlNetConfig;
  std::vector<Field> fields = TrunkFields();
  fields.push_back(SizeField("conditioning_channels", &C::conditioning_channels, "Of a hint."));
  fields.push_back(MakeField("conditioning_embedding_out_channels",
                             &C::conditioning_embedding_out_channels,
                             "Channels of the hint's convolutions, each half the size of the one "
                             "before.",
                             kStages));
  return fields;
}

}  // namespace frugal::architectures
