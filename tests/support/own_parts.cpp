#include "tests/support/own_parts.h"

#include <mutex>

#include "sdk/metrics/metric_registry.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/reduce.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal::testing {

Gain::Gain(const Shape& input, const Options& options)
    : weight_(AddParameter("weight", {input.back()}, Initializer::Constant(options.start))) {}

std::string Gain::Describe() const { return "gain " + std::to_string(weight_.shape[0]); }

Var Gain::Forward(Context& context, const Var& input) {
  return Arithmetic(context, BinaryKind::kMultiply, input, ValueOf(context, weight_));
}

SqueezeExcitation::SqueezeExcitation(const Shape& input, const Options& options)
    : squeeze_(input.back(),
               {.units = input.back() / options.reduction, .activation = Activation::kRelu}),
      excite_(input.back() / options.reduction,
              {.units = input.back(), .activation = Activation::kSigmoid}) {
  AddChild("squeeze", squeeze_);
  AddChild("excite", excite_);
}

std::string SqueezeExcitation::Describe() const { return "squeeze and excitation"; }

Var SqueezeExcitation::Forward(Context& context, const Var& input) {
  const Var mean = Mean(context, input, {1, 2}, true);
  const Var scale = excite_(context, squeeze_(context, mean));
  return Arithmetic(context, BinaryKind::kMultiply, input, scale);
}

void RegisterOwnParts() {
  static std::once_flag once;
  std::call_once(once, [] {
    Register<Gain>("gain", {MakeField("start", &GainOptions::start, "Its first value.")});
    Register<SqueezeExcitation>("squeeze_excitation",
                                {MakeField("reduction", &SqueezeOptions::reduction,
                                           "Features inside, one in so many.", {.min = 1})});
    RegisterLion();
    RegisterBars();
    Metrics().Add(
        {.name = "brier",
         .doc = "Mean square error of probabilities.",
         .larger_is_better = false,
         .make = [](const MetricSetup& setup) { return MakeMetric("perplexity", setup); }});
  });
}

}  // namespace frugal::testing
