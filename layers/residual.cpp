#include "layers/residual.h"

#include "layers/describe.h"
#include "sdk/ops/elementwise.h"

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

Var Residual::Forward(Context& context, const Var& input) {
  const Var around = shortcut_ ? (*shortcut_)(context, input) : input;
  const Var inside = (*body_)(context, input);
  return Activate(context, Add(context, inside, around), activation_);
}

}  // namespace frugal
