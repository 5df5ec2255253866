#pragma once

#include <memory>
#include <string>
#include <utility>

#include "layers/sequential.h"

namespace frugal {

// Makes an output of the network of its input: by layers of its own, if there are any. It travels
// beside the input, which is handed on, until a loss compares it with its targets (NetworkOutput).
class OutputLayer final : public TupleLayer {
 public:
  // Its layers' parameters lie directly under its path.
  explicit OutputLayer(std::unique_ptr<Sequential> body) : body_(std::move(body)) {
    AddChild("", *body_);
  }

  LayerKind kind() const override { return LayerKind::kSequential; }
  std::string Describe() const override;
  bool TakesTokens() const override { return true; }  // its first layer decides

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  std::unique_ptr<Sequential> body_;
};

}  // namespace frugal
