#pragma once

#include "sdk/backend/activation.h"

namespace frugal::onednn {

// Returns true where oneDNN applies the activation on the way out of products and convolutions:
// kinds whose derivative follows from their output, so that nothing but the output is ever kept.
constexpr bool IsFused(Activation activation) {
  switch (activation) {
    case Activation::kIdentity:
    case Activation::kRelu:
    case Activation::kLeakyRelu:
    case Activation::kElu:
    case Activation::kSigmoid:
    case Activation::kTanh:
      return true;
    default:
      return false;
  }
}

}  // namespace frugal::onednn
