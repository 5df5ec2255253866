#include "layers/patch_embedding.h"

#include <array>

#include "sdk/core/error.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal {
namespace {

std::int64_t PatchesOf(const PatchEmbeddingOptions& options) {
  if (options.patch < 1 || options.image_height < options.patch ||
      options.image_width < options.patch || options.channels < 1 || options.features < 1) {
    throw ConfigError({.where = "patch embedding",
                       .required = "patches of at least 1 that fit into the image, at least 1 "
                                   "channel and 1 feature",
                       .given = "patch = " + std::to_string(options.patch) + ", an image of " +
                                std::to_string(options.image_height) + " x " +
                                std::to_string(options.image_width) + " x " +
                                std::to_string(options.channels) + ", " +
                                std::to_string(options.features) + " features",
                       .advice = "correct the sizes"});
  }
  return options.image_height / options.patch * (options.image_width / options.patch);
}

}  // namespace

PatchEmbedding::PatchEmbedding(const PatchEmbeddingOptions& options)
    : options_(options),
      class_token_(AddParameter("cls_token", {1, 1, options.features},
                                Initializer::Normal(0, options.init_std))),
      positions_(AddParameter("position_embeddings", {1, 1 + PatchesOf(options), options.features},
                              Initializer::Normal(0, options.init_std))),
      weight_(AddParameter("patch_embeddings.projection.weight",
                           {options.features, options.channels, options.patch, options.patch},
                           Initializer::Normal(0, options.init_std))),
      bias_(AddParameter("patch_embeddings.projection.bias", {options.features},
                         Initializer::Zero())) {}

std::string PatchEmbedding::Describe() const {
  return "patches of " + std::to_string(options_.patch) + "x" + std::to_string(options_.patch) +
         " in " + std::to_string(options_.features) + " features, class token, positions";
}

Var PatchEmbedding::Forward(Context& context, const Var& input) {
  const Shape image = {options_.image_height, options_.image_width, options_.channels};
  if (input.shape().rank() != 4 || input.shape()[1] != image[0] || input.shape()[2] != image[1] ||
      input.shape()[3] != image[2]) {
    ThrowShape(context, "it takes images " + ToString(image), input.shape(),
               "change the model's image size or channels to those of the data");
  }
  const std::int64_t batch = input.shape()[0];
  WindowOptions window;
  window.kernel = {1, options_.patch, options_.patch};
  window.stride = window.kernel;
  const Var patches = Convolution(context, input, weight_, &bias_, window, 1);
  const Shape rows = {batch, PatchesOf(options_), options_.features};
  const std::array<Var, 2> parts = {
      Expand(context, ValueOf(context, class_token_), {batch, 1, options_.features}),
      Reshape(context, patches, rows)};
  return Arithmetic(context, BinaryKind::kAdd, Concat(context, parts, 1),
                    ValueOf(context, positions_));
}

}  // namespace frugal
