#include "layers/blocks/patch_tokens.h"

#include "sdk/ops/elementwise.h"
#include "sdk/ops/spatial/convolution.h"
#include "sdk/ops/support/check.h"

namespace frugal {

PatchTokens::PatchTokens(const PatchTokensOptions& options)
    : options_(options),
      weight_(AddParameter("weight",
                           {options.features, options.channels, options.patch, options.patch},
                           Initializer::XavierUniform())),
      bias_(options.bias ? &AddParameter("bias", {options.features}, Initializer::Zero())
                         : nullptr) {}

std::string PatchTokens::Describe() const {
  return "patches of " + std::to_string(options_.patch) + "x" + std::to_string(options_.patch) +
         " in " + std::to_string(options_.features) + " features";
}

Var PatchTokens::Forward(Context& context, const Var& input) {
  const Shape& x = input.shape();
  if (x.rank() != 4 || x[3] != options_.channels || x[1] % options_.patch != 0 ||
      x[2] % options_.patch != 0) {
    ThrowShape(context,
               "it takes images of " + std::to_string(options_.channels) +
                   " channels whose height and width are multiples of the patch size " +
                   std::to_string(options_.patch),
               x, "crop or pad the images, or change the model's patch size or channels");
  }
  WindowOptions window;
  window.kernel = {1, options_.patch, options_.patch};
  window.stride = window.kernel;
  const Var patches = Convolution(context, input, weight_, bias_, window, 1);
  const std::int64_t tokens = patches.shape()[1] * patches.shape()[2];
  return Reshape(context, patches, {x[0], tokens, options_.features});
}

}  // namespace frugal
