#include "builders/config/types/architecture_families.h"
#include "builders/config/types/size_fields.h"

namespace frugal {
namespace {

const FieldLimits kPerStage = {
    .min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 16, .single_ok = true};
// Every block is made as objects, and the two counts multiply.
const FieldLimits kBlocks = {
    .min = 1, .max = 1000, .min_items = 1, .max_items = 16, .single_ok = true};
const FieldLimits kTransformerBlocks = {
    .min = 1, .max = 100, .min_items = 1, .max_items = 16, .single_ok = true};
const FieldLimits kStages = {.min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 16};
const FieldLimits kTypes = {.min_items = 1, .max_items = 16};

// Makes freq_shift of U-Nets over noisy images.
template <class T>
Field ShiftField(double T::*member) {
  return MakeField("freq_shift", member, "Of the frequencies of time features.",
                   {.min = 0, .max = 1});
}

template <class T>
Field PaddingField(std::int64_t T::*member) {
  return MakeField("downsample_padding", member,
                   "Zeros around what is halved; 0: one row and column at the end.",
                   {.min = 0, .max = 1});
}

template <class T>
Field ClassesField(std::int64_t T::*member) {
  return MakeField("num_class_embeds", member, "Classes; 0: without.",
                   {.min = 0, .max = kMostPerAxis});
}

template <class T, class M>
Field BlocksField(M T::*member) {
  return MakeField("layers_per_block", member, "Residual blocks of a stage.", kBlocks);
}

FieldTable UNetFields() {
  using C = UNetConfig;
  return MakeFieldTable<C>(
      "unet",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of what comes in."),
       SizeField("out_channels", &C::out_channels, "Of what is predicted."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownBlock2D or AttnDownBlock2D for each stage.", kTypes),
       MakeField("up_block_types", &C::up_block_types,
                 "UpBlock2D or AttnUpBlock2D for each stage, the smallest images first.", kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       BlocksField(&C::layers_per_block),
       SizeField("attention_head_dim", &C::attention_head_dim,
                 "Channels of a head; none: one head."),
       MakeField("add_attention", &C::add_attention, "Whether the middle has attention."),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       EpsilonField("norm_eps", &C::norm_eps),
       MakeField("flip_sin_to_cos", &C::flip_sin_to_cos, "Cosines before sines in time features."),
       ShiftField(&C::freq_shift), PaddingField(&C::downsample_padding),
       ClassesField(&C::num_class_embeds)});
}

// Returns the fields that U-Nets with cross attention and ControlNets share.
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

FieldTable UNetConditionFields() {
  using C = UNetConditionConfig;
  std::vector<Field> fields = TrunkFields();
  fields.push_back(SizeField("out_channels", &C::out_channels, "Of what is predicted."));
  fields.push_back(MakeField(
      "up_block_types", &C::up_block_types,
      "UpBlock2D or CrossAttnUpBlock2D for each stage, the smallest images first.", kTypes));
  fields.push_back(MakeField("skip_cross_attention", &C::skip_cross_attention,
                             "Whether there is no context: CatVTON."));
  fields.push_back(MakeField("ip_adapter_tokens", &C::ip_adapter_tokens,
                             "Tokens of a face beside the context: IP-Adapter FaceID; 0: none.",
                             {.min = 0, .max = kMostPerAxis}));
  fields.push_back(
      SizeField("ip_adapter_embed_dim", &C::ip_adapter_embed_dim, "Features of a face."));
  return MakeFieldTable<C>("unet_condition", std::move(fields));
}

// Returns the fields of ControlNets, one hint or several.
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

FieldTable ControlNetFields() {
  return MakeFieldTable<ControlNetConfig>("controlnet", HintedFields());
}

FieldTable ControlNetUnionFields() {
  using C = ControlNetUnionConfig;
  std::vector<Field> fields = HintedFields();
  fields.push_back(SizeField("num_control_type", &C::num_control_type, "Types of hints."));
  fields.push_back(MakeField("control_types", &C::control_types,
                             "The types of the hints that are given, counted from 0.",
                             {.min = 0, .max = kMostPerAxis, .min_items = 1, .max_items = 64}));
  fields.push_back(SizeField("num_trans_channel", &C::num_trans_channel,
                             "Features of the hints' transformer: as the first stage's channels."));
  fields.push_back(SizeField("num_proj_channel", &C::num_proj_channel,
                             "Of what comes out of it: as the first stage's channels."));
  fields.push_back(SizeField("num_trans_head", &C::num_trans_head, "Its heads."));
  fields.push_back(
      MakeField("num_trans_layer", &C::num_trans_layer, "Its layers.", {.min = 1, .max = 1000}));
  return MakeFieldTable<C>("controlnet_union", std::move(fields));
}

FieldTable VaeKlFields() {
  using C = VaeKlConfig;
  return MakeFieldTable<C>(
      "vae_kl",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of an image."),
       SizeField("out_channels", &C::out_channels, "Of the image that comes back."),
       SizeField("latent_channels", &C::latent_channels, "Of the latents."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownEncoderBlock2D or AttnDownEncoderBlock2D for each stage.", kTypes),
       MakeField(
           "up_block_types", &C::up_block_types,
           "UpDecoderBlock2D or AttnUpDecoderBlock2D for each stage, the smallest images first.",
           kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       BlocksField(&C::layers_per_block),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       MakeField("use_quant_conv", &C::use_quant_conv, "A 1x1 convolution before the latents."),
       MakeField("use_post_quant_conv", &C::use_post_quant_conv, "And one behind them."),
       MakeField("mid_block_add_attention", &C::mid_block_add_attention,
                 "Whether the middles have attention.")});
}

FieldTable VideoUNetFields() {
  using C = VideoUNetConfig;
  return MakeFieldTable<C>(
      "video_unet",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("num_frames", &C::num_frames, "Frames that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of what comes in."),
       SizeField("out_channels", &C::out_channels, "Of what is predicted."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownBlockSpatioTemporal or CrossAttnDownBlockSpatioTemporal for each stage.",
                 kTypes),
       MakeField("up_block_types", &C::up_block_types,
                 "UpBlockSpatioTemporal or CrossAttnUpBlockSpatioTemporal, the smallest first.",
                 kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       SizeField("addition_time_embed_dim", &C::addition_time_embed_dim,
                 "Sinusoids of each of time_ids."),
       SizeField("projection_class_embeddings_input_dim", &C::projection_class_embeddings_input_dim,
                 "Sinusoids of all time_ids."),
       BlocksField(&C::layers_per_block),
       MakeField("transformer_layers_per_block", &C::transformer_layers_per_block,
                 "Transformer blocks behind a residual block.", kTransformerBlocks),
       MakeField("cross_attention_dim", &C::cross_attention_dim, "Features of the context.",
                 kPerStage),
       MakeField("num_attention_heads", &C::num_attention_heads, "Heads of each stage.",
                 kPerStage)});
}

FieldTable PixelUNetFields() {
  using C = PixelUNetConfig;
  return MakeFieldTable<C>(
      "pixel_unet",
      {SizeField("sample_size", &C::sample_size, "Height and width that plans assume."),
       SizeField("in_channels", &C::in_channels, "Of an image."),
       SizeField("out_channels", &C::out_channels, "Of what is predicted."),
       MakeField("down_block_types", &C::down_block_types,
                 "DownBlock2D or CrossAttnDownBlock2D for each stage, on both ways.", kTypes),
       MakeField("block_out_channels", &C::block_out_channels, "Channels of each stage.", kStages),
       BlocksField(&C::layers_per_block),
       SizeField("attention_head_dim", &C::attention_head_dim, "Channels of a head."),
       SizeField("encoder_hid_dim", &C::encoder_hid_dim, "Features of the text."),
       SizeField("cross_attention_dim", &C::cross_attention_dim,
                 "Features of the text that layers attend to."),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       EpsilonField("norm_eps", &C::norm_eps),
       MakeField("self_attention", &C::self_attention,
                 "Whether pixels attend to each other, not to the text alone."),
       MakeField("efficient", &C::efficient,
                 "Whether stages halve their images first and double them last."),
       MakeField("upscale", &C::upscale,
                 "How often the image it is given is to be enlarged; 0: without.",
                 {.min = 0, .max = 64})});
}

}  // namespace

std::vector<ArchitectureFamily> UNetFamilies() {
  return {RowOf<UNetConfig>("unet", UNetFields(), MakeUNet),
          RowOf<UNetConditionConfig>("unet_condition", UNetConditionFields(), MakeUNetCondition),
          RowOf<ControlNetConfig>("controlnet", ControlNetFields(), MakeControlNet),
          RowOf<ControlNetUnionConfig>("controlnet_union", ControlNetUnionFields(),
                                       MakeControlNetUnion),
          RowOf<VaeKlConfig>("vae_kl", VaeKlFields(), MakeVaeKl),
          RowOf<VideoUNetConfig>("video_unet", VideoUNetFields(), MakeVideoUNet),
          RowOf<PixelUNetConfig>("pixel_unet", PixelUNetFields(), MakePixelUNet)};
}

}  // namespace frugal
