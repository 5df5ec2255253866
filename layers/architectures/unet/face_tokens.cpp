#include "layers/architectures/unet/face_tokens.h"

#include "sdk/ops/elementwise.h"

namespace frugal::architectures {

FaceTokens::FaceTokens(const FaceTokensOptions& options)
    : options_(options),
      first_(options.inputs, {.units = 2 * options.inputs, .activation = Activation::kGelu}),
      second_(2 * options.inputs, {.units = options.tokens * options.features}),
      norm_(options.features, {}) {
  AddChild("ff.net.0.proj", first_);
  AddChild("ff.net.2", second_);
  AddChild("norm", norm_);
}

Var FaceTokens::operator()(Context& context, const Var& face) {
  const Var tokens = second_(context, first_(context, face));
  return norm_(context,
               Reshape(context, tokens, {face.shape()[0], options_.tokens, options_.features}));
}

}  // namespace frugal::architectures
