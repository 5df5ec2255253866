#include "layers/dense.h"

#include "layers/describe.h"
#include "sdk/core/error.h"
#include "sdk/ops/linear.h"

namespace frugal {

Initializer DefaultInitializer(ActivationFunction activation) {
  switch (activation.kind) {
    case Activation::kIdentity:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kExp:
      return Initializer::XavierUniform();
    default:
      return Initializer::HeNormal();
  }
}

namespace {

Shape WeightShape(std::int64_t inputs, std::int64_t units) {
  if (units >= 1) return {units, inputs};
  throw ConfigError({.where = "dense",
                     .required = "units is at least 1",
                     .given = "units = " + std::to_string(units),
                     .advice = "say how many outputs the layer has"});
}

}  // namespace

Dense::Dense(std::int64_t inputs, const DenseOptions& options)
    : options_(options),
      weight_(AddParameter("weight", WeightShape(inputs, options.units),
                           options.initializer.value_or(DefaultInitializer(options.activation)))),
      bias_(options.bias ? &AddParameter("bias", {options.units}, Initializer::Zero()) : nullptr) {}

std::string Dense::Describe() const {
  return "dense " + std::to_string(weight_.shape[1]) + " -> " + std::to_string(weight_.shape[0]) +
         DescribeActivation(options_.activation) + (bias_ ? "" : ", no bias");
}

Var Dense::Forward(Context& context, const Var& input) {
  return Linear(context, input, weight_, bias_, {.activation = options_.activation});
}

}  // namespace frugal
