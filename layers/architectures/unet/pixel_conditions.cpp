#include "layers/architectures/unet/pixel_conditions.h"

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"

namespace frugal::architectures {
namespace {

TimestepEmbeddingOptions TimesOf(const PixelConditionsOptions& options) {
  return {.features = options.features,
          .sinusoid = {.features = options.sinusoids, .cosine_first = true, .frequency_shift = 0}};
}

}  // namespace

PixelConditions::PixelConditions(const PixelConditionsOptions& options)
    : text_(options.text_inputs, {.units = options.text_features}),
      times_(TimesOf(options)),
      norm_(options.text_features, {.eps = options.eps}),
      pool_(options.text_features, options.features, options.text_heads),
      pooled_norm_(options.features, {.eps = options.eps}) {
  AddChild("encoder_hid_proj", text_);
  AddChild("time_embedding", times_);
  if (options.has_noise_level) AddChild("noise_embedding", levels_.emplace(TimesOf(options)));
  AddChild("add_embedding.norm1", norm_);
  AddChild("add_embedding.pool", pool_);
  AddChild("add_embedding.norm2", pooled_norm_);
}

PixelConditions::Embedded PixelConditions::operator()(Context& context, const Var& t,
                                                      const Var& text, const Var& noise_level) {
  Embedded embedded;
  embedded.text = text_(context, text);
  const Var pooled = pool_(context, norm_(context, embedded.text), Tensor());
  Var c = Add(context, times_(context, t), pooled_norm_(context, pooled));
  if (levels_) c = Add(context, c, (*levels_)(context, noise_level));
  embedded.c = Activate(context, c, Activation::kSilu);
  return embedded;
}

}  // namespace frugal::architectures
