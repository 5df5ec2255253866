#include "layers/embedding.h"

#include <cmath>

#include "layers/types/row.h"
#include "presets/config/field_limits.h"
#include "sdk/core/error.h"
#include "sdk/module/key_value_cache.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal {
namespace {

std::int64_t AtLeastOne(const char* layer, const char* name, std::int64_t value) {
  if (value >= 1) return value;
  throw ConfigError({.where = layer,
                     .required = std::string(name) + " is at least 1",
                     .given = std::string(name) + " = " + std::to_string(value),
                     .advice = "say how many there are"});
}

std::int64_t PaddingOf(const EmbeddingOptions& options) {
  const std::int64_t padding = options.padding_token.value_or(-1);
  if (padding >= -1 && padding < options.vocabulary) return padding;
  throw ConfigError({.where = "embedding",
                     .required = "padding_token is one of the " +
                                 std::to_string(options.vocabulary) + " tokens, counted from 0",
                     .given = "padding_token = " + std::to_string(padding),
                     .advice = "leave it out where no token is padding"});
}

// Positions that a cache holds already come before these.
std::int64_t FirstPosition(const Context& context) {
  return context.cache() ? context.cache()->length() : 0;
}

void CheckSequence(Context& context, const Var& x, std::int64_t features) {
  if (x.shape().rank() == 3 && (features == 0 || x.shape().back() == features)) return;
  const std::string width = features == 0 ? "features" : std::to_string(features);
  ThrowShape(context, "positions are added to [batch, positions, " + width + "]", x.shape(),
             "put the layer behind an embedding");
}

template <class T>
void FillSinusoids(std::int64_t first, double base, std::int64_t features, std::span<T> table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto position = static_cast<double>(first + at / features);
    const auto pair = static_cast<double>(at % features / 2 * 2);
    const double angle = position / std::pow(base, pair / static_cast<double>(features));
    table[i] = static_cast<T>(at % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
}

}  // namespace

TokenEmbedding::TokenEmbedding(const EmbeddingOptions& options)
    : weight_(AddParameter("weight",
                           {AtLeastOne("embedding", "vocabulary", options.vocabulary),
                            AtLeastOne("embedding", "units", options.units)},
                           Initializer::Normal(0, options.init_std))),
      padding_(PaddingOf(options)) {}

std::string TokenEmbedding::Describe() const {
  return "embedding of " + std::to_string(weight_.shape[0]) + " tokens in " +
         std::to_string(weight_.shape[1]) + " features";
}

Var TokenEmbedding::Forward(Context& context, const Var& input) {
  if (input.value.dtype() != DType::kI64) {
    ThrowShape(context, "an embedding takes token numbers (i64)", input.shape(),
               "give it text, or leave it out where the data are images");
  }
  return Embedding(context, input.value, weight_, padding_);
}

LearnedPositions::LearnedPositions(std::int64_t features, const PositionOptions& options)
    : weight_(AddParameter("weight",
                           {AtLeastOne("positions", "positions", options.positions), features},
                           Initializer::Normal(0, options.init_std))) {}

std::string LearnedPositions::Describe() const {
  return "learned positions, up to " + std::to_string(weight_.shape[0]);
}

Var LearnedPositions::Forward(Context& context, const Var& input) {
  CheckSequence(context, input, weight_.shape[1]);
  const std::int64_t first = FirstPosition(context);
  const std::int64_t end = first + input.shape()[1];
  if (end > weight_.shape[0]) {
    ThrowShape(context, "sequences have at most " + std::to_string(weight_.shape[0]) + " positions",
               input.shape(), "use shorter sequences, or a larger table of positions");
  }
  const Var table = ValueOf(context, weight_);
  return Arithmetic(context, BinaryKind::kAdd, input,
                    Slice(context, table, {{.axis = 0, .begin = first, .end = end}}));
}

Var SinusoidalPositions::Forward(Context& context, const Var& input) {
  CheckSequence(context, input, 0);
  const std::int64_t features = input.shape().back();
  if (features % 2 != 0) {
    ThrowShape(context, "sinusoidal positions take an even number of features", input.shape(),
               "make the features even");
  }
  const Tensor table = context.Allocate({input.shape()[1], features}, context.master_dtype());
  const std::int64_t first = FirstPosition(context);
  context.Launch({OperationKind::kElementwise, BytesOf(table)}, [&](Backend&, void*) {
    if (table.dtype() == DType::kF64) {
      FillSinusoids(first, options_.base, features, table.values<double>());
    } else {
      FillSinusoids(first, options_.base, features, table.values<float>());
    }
  });
  return Arithmetic(context, BinaryKind::kAdd, input, {table, Var::kNoGradient});
}

std::string TiedProjection::Describe() const {
  return "dense " + std::to_string(weight_.shape[1]) + " -> " + std::to_string(weight_.shape[0]) +
         ", no bias, tied to the embedding";
}

Var TiedProjection::Forward(Context& context, const Var& input) {
  return Linear(context, input, weight_, nullptr);
}

namespace {

template <class T>
Field InitStdField(double T::*member) {
  return MakeField("init_std", member, "Of the normal distribution that the table starts from.",
                   {.min = 0, .formerly = "deviation"});
}

}  // namespace

LayerType EmbeddingType() {
  using O = EmbeddingOptions;
  return RowOf<EmbeddingOptions>(
      "embedding",
      {MakeField("vocabulary", &O::vocabulary, "Tokens; a text of bytes has 256.",
                 SizeLimits(true)),
       MakeField("units", &O::units, "Output features.", Formerly("features", SizeLimits(true))),
       InitStdField(&O::init_std),
       MakeField("padding_token", &O::padding_token,
                 "A token whose row is not trained; none: all are.",
                 {.min = 0, .max = kMostPerAxis, .formerly = "padding"})},
      OfOptions<TokenEmbedding>);
}

LayerType LearnedPositionsType() {
  using O = PositionOptions;
  return RowOf<PositionOptions>(
      "learned_positions",
      {MakeField("positions", &O::positions, "The longest sequence.", SizeLimits(true)),
       InitStdField(&O::init_std)},
      OfFeatures<LearnedPositions>);
}

LayerType SinusoidalPositionsType() {
  return RowOf<SinusoidOptions>("sinusoidal_positions",
                                {MakeField("base", &SinusoidOptions::base, "Of the wavelengths.",
                                           {.min = 0, .min_exclusive = true})},
                                OfOptions<SinusoidalPositions>);
}

}  // namespace frugal
