#include "layers/recurrent.h"

#include <cmath>

#include "layers/input_check.h"
#include "layers/types/row.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

std::string NameOf(RecurrentKind kind) { return kind == RecurrentKind::kLstm ? "lstm" : "gru"; }

// Rows of the weights.
std::int64_t GateFeatures(RecurrentKind kind, const RecurrentOptions& options) {
  if (options.units >= 1) return (kind == RecurrentKind::kLstm ? 4 : 3) * options.units;
  throw ConfigError({.where = NameOf(kind),
                     .required = "units is at least 1",
                     .given = "units = " + std::to_string(options.units),
                     .advice = "say how many features the hidden state has"});
}

}  // namespace

RecurrentLayer::RecurrentLayer(RecurrentKind recurrent_kind, std::int64_t inputs,
                               const RecurrentOptions& options)
    : recurrent_kind_(recurrent_kind), options_(options) {
  const std::int64_t gates = GateFeatures(recurrent_kind, options);
  const double bound = 1 / std::sqrt(static_cast<double>(options.units));
  const Initializer start = Initializer::Uniform(-bound, bound);
  parameters_.weight_ih = &AddParameter("weight_ih_l0", {gates, inputs}, start);
  parameters_.weight_hh = &AddParameter("weight_hh_l0", {gates, options.units}, start);
  if (!options.bias) return;
  parameters_.bias_ih = &AddParameter("bias_ih_l0", {gates}, start);
  parameters_.bias_hh = &AddParameter("bias_hh_l0", {gates}, start);
}

std::string RecurrentLayer::Describe() const {
  return NameOf(recurrent_kind_) + " " + std::to_string(parameters_.weight_ih->shape[1]) + " -> " +
         std::to_string(options_.units) + (options_.bias ? "" : ", no bias");
}

Var RecurrentLayer::Forward(Context& context, const Var& input) {
  CheckIsSequence(context, NameOf(recurrent_kind_), input);
  if (recurrent_kind_ == RecurrentKind::kLstm) return Lstm(context, input, parameters_);
  return Gru(context, input, parameters_);
}

namespace {

std::vector<Field> RecurrentFields() {
  return {MakeField("units", &RecurrentOptions::units, "Output features: the hidden state.",
                    Formerly("hidden", SizeLimits(true))),
          MakeField("bias", &RecurrentOptions::bias, "Whether both products have a bias.")};
}

template <RecurrentKind kKind, class Options>
std::unique_ptr<Layer> RecurrentOf(std::int64_t features, const Options& options) {
  return std::make_unique<RecurrentLayer>(kKind, features, options);
}

}  // namespace

LayerType LstmType() {
  return RowOf<LstmOptions>("lstm", RecurrentFields(), RecurrentOf<RecurrentKind::kLstm>);
}

LayerType GruType() {
  return RowOf<GruOptions>("gru", RecurrentFields(), RecurrentOf<RecurrentKind::kGru>);
}

}  // namespace frugal
