#pragma once

#include <cstdint>
#include <string>

#include "sdk/autograd/context.h"
#include "sdk/module/module.h"

namespace frugal {

// What a layer is, for policies that choose by kind.
enum class LayerKind : std::uint8_t {
  kDense,
  kConvolution,
  kPooling,
  kNorm,
  kActivation,
  kDropout,
  kReshape,
  kAttention,
  kResidual,
  kSequential,
  kRecurrent,
};
std::string_view NameOf(LayerKind kind);

// A forward-only composition of operations. Backward belongs to the operations.
class Layer : public Module {
 public:
  virtual LayerKind kind() const = 0;
  // One line with the sizes, e.g. "conv2d 32 -> 64, 3x3, stride 1, padding 1, relu".
  virtual std::string Describe() const = 0;
  // Runs the layer; memory it takes is held in its name.
  Var operator()(Context& context, const Var& input);

 private:
  virtual Var Forward(Context& context, const Var& input) = 0;
};

}  // namespace frugal
