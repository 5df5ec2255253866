#include "layers/residual.h"

#include "layers/describe.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"

namespace frugal {

Residual::Residual(std::unique_ptr<Sequential> body, std::unique_ptr<Sequential> shortcut,
                   const ResidualOptions& options)
    : body_(std::move(body)), shortcut_(std::move(shortcut)), activation_(options.activation) {
  AddChild("", *body_);
  if (shortcut_) AddChild(options.shortcut_name, *shortcut_);
}

std::string Residual::Describe() const {
  return "residual around " + std::to_string(body_->size()) + " layers" +
         (shortcut_ ? ", shortcut" : "") + DescribeActivation(activation_);
}

// A body that ends in a product takes the sum into it.
Var Residual::Sum(Context& context, const Var& input, const Var& around) {
  const std::optional<Projection> last = body_->LastProjection();
  if (!last) return Add(context, (*body_)(context, input), around);
  const Var features = body_->RunUpToProjection(context, input);
  return Linear(context, features, *last->weight, last->bias, {.layout = last->layout}, around);
}

Var Residual::Forward(Context& context, const Var& input) {
  const Var around = shortcut_ ? (*shortcut_)(context, input) : input;
  return Activate(context, Sum(context, input, around), activation_);
}

}  // namespace frugal
