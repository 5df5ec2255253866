#pragma once

#include "builders/config/types/optimizer_registry.h"
#include "builders/frugal.h"
#include "samples/070_own_parts/bars.h"
#include "samples/070_own_parts/lion.h"

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

// Makes them known by name, once in a program: "gain", "squeeze_excitation" and a metric "brier",
// as samples/070_own_parts does, and its own optimizer "lion" and data set "bars".
void RegisterOwnParts();

}  // namespace frugal::testing
