#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/core/dtype.h"
#include "sdk/core/own_options.h"
#include "sdk/core/shape.h"

namespace frugal {

// Our update rules, as C++ spells them; sdk/optim/optimizer_registry.h has them and those of
// programs.
enum class OptimizerKind : std::uint8_t {
  kSgd,       // with momentum and Nesterov's form (Sutskever et al., ICML 2013)
  kAdam,      // Kingma & Ba, arXiv:1412.6980; weight decay is added to the gradient
  kAdamW,     // Loshchilov & Hutter, arXiv:1711.05101: weight decay apart from the gradient
  kRmsProp,   // Tieleman & Hinton 2012, lecture 6.5
  kAdagrad,   // Duchi et al., JMLR 2011
  kAdadelta,  // Zeiler, arXiv:1212.5701
  kNAdam,     // Dozat 2016
  kRAdam,     // Liu et al., arXiv:1908.03265
  kAdamax,    // Kingma & Ba, arXiv:1412.6980, section 7.1
};
inline constexpr std::size_t kOptimizerKindCount = 9;
std::string_view NameOf(OptimizerKind kind);  // "sgd", "adam", "adamw", "rmsprop", ...

// The name of an update rule, ours or one that a program registered. A value.
class OptimizerName {
 public:
  // NOLINTBEGIN(google-explicit-constructor): each of these is a name
  OptimizerName(OptimizerKind kind) : text_(NameOf(kind)) {}
  OptimizerName(std::string text) : text_(std::move(text)) {}
  OptimizerName(const char* text) : text_(text) {}
  // NOLINTEND(google-explicit-constructor)

  const std::string& text() const { return text_; }
  friend bool operator==(const OptimizerName& a, const OptimizerName& b) = default;

 private:
  std::string text_;
};
inline std::string_view NameOf(const OptimizerName& name) { return name.text(); }

// How momentum and moments are stored; they are computed in the parameter's type (f32).
enum class StateFormat : std::uint8_t {
  kF32,   // 4 bytes an element: as the parameter
  kBF16,  // 2
  k8Bit,  // 1, and an f32 scale for every 256 elements (sdk/backend/state_codec.h)
  kCount
};
std::string_view NameOf(StateFormat format);  // "f32", "bf16", "8bit"

// Parameters of fewer elements keep their 8-bit state in f32, as in Dettmers et al.,
// arXiv:2110.02861, section 3: they are biases and norms, whose state weighs nothing.
inline constexpr std::int64_t kSmallest8BitState = 4096;

struct StateForm {
  DType dtype = DType::kF32;
  Shape shape;
};
// Returns the form of one state tensor of a parameter.
StateForm FormOf(StateFormat format, const Shape& parameter, DType dtype);

struct OptimizerOptions {
  OptimizerName kind = OptimizerKind::kAdamW;
  double lr = 1e-3;
  double momentum = 0;  // sgd, rmsprop
  bool nesterov = false;
  double beta1 = 0.9;  // adam, adamw, nadam, radam, adamax
  double beta2 = 0.999;
  double alpha = 0.99;           // rmsprop
  double rho = 0.9;              // adadelta
  double rate_decay = 0;         // adagrad
  double momentum_decay = 4e-3;  // nadam
  // All but sgd; not given: 1e-10 for adagrad, 1e-6 for adadelta, else 1e-8, as PyTorch.
  std::optional<double> eps{};
  double weight_decay = 0;
  bool decay_vectors = true;  // biases and scales of norms too, not matrices and kernels alone
  StateFormat state = StateFormat::kF32;  // others: rules with OptimizerRule::narrow_state only
  // > 0: the weights' moving average is kept beside them: after update t (from 0) it is
  // d average + (1 - d) weight, d = min(ema_decay, t / (t + 10)). Evaluations, predictions,
  // samples and saved weights are then the average's.
  double ema_decay = 0;
  // Parameters under these paths ("layer4", "layer4.0.conv1") learn at lr_multiplier times the
  // rate.
  std::vector<std::string> lr_multiplier_for{};
  double lr_multiplier = 0.1;
  OwnOptions options{};  // those of a registered rule alone; none: their defaults
};

}  // namespace frugal
