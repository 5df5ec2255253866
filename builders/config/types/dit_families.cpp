#include "builders/config/types/architecture_families.h"
#include "builders/config/types/size_fields.h"

namespace frugal {
namespace {

template <class C>
FieldTable DitFields(std::string name) {
  return MakeFieldTable<C>(
      std::move(name),
      {SizeField("input_size", &C::input_size, "Height and width of the latents."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("in_channels", &C::in_channels, "Of the latents."),
       SizeField("hidden_size", &C::hidden_size, "Features."),
       CountField("depth", &C::depth, "Blocks."), SizeField("num_heads", &C::num_heads, "Heads."),
       RatioField("mlp_ratio", &C::mlp_ratio),
       RateField("class_dropout_prob", &C::class_dropout_prob,
                 "Above 0: one more label, for no class."),
       SizeField("num_classes", &C::num_classes, "Classes."),
       MakeField("learn_sigma", &C::learn_sigma, "Whether it predicts a variance too.")});
}

FieldTable UVitFields() {
  using C = UVitConfig;
  return MakeFieldTable<C>(
      "uvit",
      {SizeField("img_size", &C::img_size, "Height and width of an image."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("in_chans", &C::in_chans, "Channels of an image."),
       SizeField("embed_dim", &C::embed_dim, "Features."),
       MakeField("depth", &C::depth, "Blocks.", {.min = 1, .max = kMostBlocks}),
       SizeField("num_heads", &C::num_heads, "Heads."), RatioField("mlp_ratio", &C::mlp_ratio),
       MakeField("qkv_bias", &C::qkv_bias, "Whether queries, keys and values have biases."),
       MakeField("mlp_time_embed", &C::mlp_time_embed, "Two products on the time's sinusoids."),
       MakeField("num_classes", &C::num_classes, "Classes; -1: no labels.",
                 {.min = -1, .max = kMostPerAxis}),
       MakeField("conv", &C::conv, "A 3x3 convolution at the end."),
       MakeField("skip", &C::skip, "Long skips.")});
}

FieldTable FlagDitFields() {
  using C = FlagDitConfig;
  return MakeFieldTable<C>(
      "flag_dit",
      {SizeField("input_size", &C::input_size, "Height and width of the latents."),
       SizeField("patch_size", &C::patch_size, "Height and width of a patch."),
       SizeField("in_channels", &C::in_channels, "Of the latents."),
       SizeField("dim", &C::dim, "Features."), CountField("n_layers", &C::n_layers, "Blocks."),
       SizeField("n_heads", &C::n_heads, "Heads."),
       SizeField("n_kv_heads", &C::n_kv_heads, "Key heads; none: as n_heads."),
       SizeField("multiple_of", &C::multiple_of, "Features inside are a multiple of this."),
       MakeField("ffn_dim_multiplier", &C::ffn_dim_multiplier, "Times the features inside.",
                 {.min = 0, .max = 1000, .min_exclusive = true}),
       EpsilonField("norm_eps", &C::norm_eps),
       RateField("class_dropout_prob", &C::class_dropout_prob,
                 "Above 0: one more label, for no class."),
       SizeField("num_classes", &C::num_classes, "Classes."),
       MakeField("learn_sigma", &C::learn_sigma, "Whether it predicts a variance too."),
       MakeField("qk_norm", &C::qk_norm, "Norms of queries and keys.")});
}

}  // namespace

std::vector<ArchitectureFamily> DitFamilies() {
  return {RowOf<DitConfig>("dit", DitFields<DitConfig>("dit"), MakeDit),
          RowOf<SitConfig>("sit", DitFields<SitConfig>("sit"), MakeSit),
          RowOf<UVitConfig>("uvit", UVitFields(), MakeUVit),
          RowOf<FlagDitConfig>("flag_dit", FlagDitFields(), MakeFlagDit)};
}

}  // namespace frugal
