#pragma once

#include "builders/config/types/optimizer_registry.h"
#include "builders/frugal.h"

// Parts of a program's own, as a user would write them.
namespace frugal::testing {

struct GainOptions {
  double start = 1;
};

// Multiplies each feature by a weight.
class Gain final : public Layer {
 public:
  using Options = GainOptions;
  Gain(const Shape& input, const Options& options);

  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  Parameter& weight_;
};

struct SqueezeOptions {
  std::int64_t reduction = 4;
};

// Scales each channel of images by what two products make of its mean (arXiv 1709.01507).
class SqueezeExcitation final : public Layer {
 public:
  using Options = SqueezeOptions;
  SqueezeExcitation(const Shape& input, const Options& options);

  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  Dense squeeze_, excite_;
};

struct LionOptions {
  double beta1 = 0.9;
  double beta2 = 0.99;
};

// The sign of a mix of momentum and gradient, with weight decay apart (arXiv 2302.06675).
void RunLion(Backend& backend, const OptimizerOptions& options, const UpdateCall& call);

// Makes them known by name, once in a program: "gain", "squeeze_excitation", a metric "brier" and
// an optimizer "lion", as samples/070_own_parts does.
void RegisterOwnParts();

}  // namespace frugal::testing
