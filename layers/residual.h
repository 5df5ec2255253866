#pragma once

#include "layers/sequential.h"
#include "sdk/ops/activation.h"

namespace frugal {

struct ResidualOptions {
  ActivationFunction activation{};        // behind the sum
  std::string shortcut_name{"shortcut"};  // of the shortcut in parameter paths
};

// f(body(x) + shortcut(x)) (He et al., arXiv:1512.03385); without a shortcut, x itself is added.
// The body's parameters lie directly under this layer's path, the shortcut's under its name.
class Residual final : public Layer {
 public:
  Residual(std::unique_ptr<Sequential> body, std::unique_ptr<Sequential> shortcut,
           const ResidualOptions& options);

  LayerKind kind() const override { return LayerKind::kResidual; }
  std::string Describe() const override;
  bool TakesTokens() const override { return true; }  // its first layers decide

  bool WorksByPosition() const override {
    return body_->WorksByPosition() && (!shortcut_ || shortcut_->WorksByPosition());
  }
  Sequential& body() const { return *body_; }
  Sequential* shortcut() const { return shortcut_.get(); }

 private:
  Var Forward(Context& context, const Var& input) override;
  Var Sum(Context& context, const Var& input, const Var& around);

  std::unique_ptr<Sequential> body_;
  std::unique_ptr<Sequential> shortcut_;
  ActivationFunction activation_;
};

}  // namespace frugal
