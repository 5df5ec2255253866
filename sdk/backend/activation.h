#pragma once

#include <cstdint>
#include <string_view>

namespace frugal {

// Elementwise functions. x is the input, a the function's own parameter.
enum class Activation : std::uint8_t {
  kIdentity,
  kRelu,       // max(x, 0)
  kGelu,       // x Phi(x), with the error function (Hendrycks & Gimpel, arXiv:1606.08415)
  kGeluTanh,   // the tanh approximation of the same paper
  kQuickGelu,  // x sigmoid(1.702 x)
  kSilu,       // x sigmoid(x) (arXiv:1702.03118)
  kSigmoid,
  kTanh,
  kSoftplus,   // log(1 + e^x)
  kElu,        // x > 0 ? x : a (e^x - 1) (arXiv:1511.07289); a = 1 where not said otherwise
  kLeakyRelu,  // x > 0 ? x : a x; a = 0.01 where not said otherwise
  kMish,       // x tanh(softplus(x)) (arXiv:1908.08681)
  kHardswish,  // x min(max(x + 3, 0), 6) / 6 (arXiv:1905.02244)
  kExp,
};
inline constexpr std::size_t kActivationCount = 14;

std::string_view NameOf(Activation activation);  // "identity", "relu", "gelu", "gelu_tanh", ...

// The parameter `a` that papers and other frameworks take by default; 0 where there is none.
double DefaultParameter(Activation activation);

// Returns true where the derivative follows from the output alone, so that the input need not be
// kept: relu, sigmoid, tanh, exp, leaky relu and elu (with a > 0), identity.
bool DerivesFromOutput(Activation activation);

// y = activation(x w^T + bias + residual): fused into one pass over y.
struct LinearEpilogue {
  Activation activation = Activation::kIdentity;  // only kinds for which FusesActivation is true
  double parameter = 0;
};

}  // namespace frugal
