#include "layers/dense.h"

#include "layers/describe.h"
#include "sdk/ops/linear.h"

namespace frugal {

Initializer DefaultInitializer(ActivationFunction activation) {
  switch (activation.kind) {
    case Activation::kIdentity:
    case Activation::kSigmoid:
    case Activation::kTanh:
    case Activation::kExp: return Initializer::XavierUniform();
    default: return Initializer::HeNormal();
  }
}

Dense::Dense(std::int64_t inputs, const DenseOptions& options)
    : options_(options),
      weight_(AddParameter("weight", {options.units, inputs},
                           options.initializer.value_or(DefaultInitializer(options.activation)))),
      bias_(options.bias ? &AddParameter("bias", {options.units}, Initializer::Zero()) : nullptr) {}

std::string Dense::Describe() const {
  return "dense " + std::to_string(weight_.shape[1]) + " -> " + std::to_string(weight_.shape[0]) +
         DescribeActivation(options_.activation) + (bias_ ? "" : ", no bias");
}

Var Dense::Forward(Context& context, const Var& input) {
  return Linear(context, input, weight_, bias_, options_.activation);
}

}  // namespace frugal
