#include "builders/architecture_fields/families.h"
#include "builders/architecture_fields/size_fields.h"

namespace frugal {
namespace {

const FieldLimits kPerStage = {
    .min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 16, .single_ok = true};
const FieldLimits kStages = {.min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 16};
const FieldLimits kTypes = {.min_items = 1, .max_items = 16};

// Of U-Nets over noisy images.
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
       SizeField("layers_per_block", &C::layers_per_block, "Residual blocks of a stage."),
       SizeField("attention_head_dim", &C::attention_head_dim,
                 "Channels of a head; none: one head."),
       MakeField("add_attention", &C::add_attention, "Whether the middle has attention."),
       SizeField("norm_num_groups", &C::norm_num_groups, "Groups of the norms."),
       EpsilonField("norm_eps", &C::norm_eps),
       MakeField("flip_sin_to_cos", &C::flip_sin_to_cos, "Cosines before sines in time features."),
       ShiftField(&C::freq_shift), PaddingField(&C::downsample_padding),
       MakeField("num_class_embeds", &C::num_class_embeds, "Classes; 0: without.",
                 {.min = 0, .max = kMostPerAxis})});
}

}  // namespace

std::vector<ArchitectureFamily> UNetFamilies() { return {{"unet", UNetConfig(), UNetFields()}}; }

}  // namespace frugal
