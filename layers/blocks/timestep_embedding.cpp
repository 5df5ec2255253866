#include "layers/blocks/timestep_embedding.h"

namespace frugal {
namespace {

constexpr double kInitStd = 0.02;

DenseOptions ProductOf(std::int64_t units, ActivationFunction activation) {
  return {
      .units = units, .activation = activation, .initializer = Initializer::Normal(0, kInitStd)};
}

}  // namespace

TimestepEmbedding::TimestepEmbedding(const TimestepEmbeddingOptions& options)
    : sinusoid_(options.sinusoid),
      first_(options.sinusoid.features, ProductOf(options.features, Activation::kSilu)),
      second_(options.features, ProductOf(options.features, {})) {
  AddChild(options.first, first_);
  AddChild(options.second, second_);
}

std::string TimestepEmbedding::Describe() const {
  return "times by " + std::to_string(sinusoid_.features) + " sinusoids, " + second_.Describe();
}

Var TimestepEmbedding::Forward(Context& context, const Var& t) {
  return second_(context, first_(context, TimestepFeatures(context, t, sinusoid_)));
}

}  // namespace frugal
