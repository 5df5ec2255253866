#include "layers/blocks/time_text_embedding.h"

#include "sdk/ops/elementwise.h"

namespace frugal {
namespace {

TimestepEmbeddingOptions TimesOf(const TimeTextEmbeddingOptions& options) {
  return {.features = options.features,
          .sinusoid = {.features = 256,
                       .cosine_first = true,
                       .frequency_shift = 0,
                       .scale = options.time_scale}};
}

}  // namespace

TimeTextEmbedding::TimeTextEmbedding(const TimeTextEmbeddingOptions& options)
    : times_(TimesOf(options)),
      text_first_(options.pooled_features,
                  {.units = options.features, .activation = Activation::kSilu}),
      text_second_(options.features, {.units = options.features}) {
  AddChild("timestep_embedder", times_);
  if (options.guidance) {
    guidance_ = std::make_unique<TimestepEmbedding>(TimesOf(options));
    AddChild("guidance_embedder", *guidance_);
  }
  AddChild("text_embedder.linear_1", text_first_);
  AddChild("text_embedder.linear_2", text_second_);
}

Var TimeTextEmbedding::operator()(Context& context, const Var& t, const Var& pooled,
                                  const Var& guidance) {
  Var sum = times_(context, t);
  if (guidance_) sum = Add(context, sum, (*guidance_)(context, guidance));
  return Add(context, sum, text_second_(context, text_first_(context, pooled)));
}

}  // namespace frugal
