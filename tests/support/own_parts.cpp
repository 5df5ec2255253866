#include "tests/support/own_parts.h"

#include <mutex>
#include <span>

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

void RunLion(Backend&, const OptimizerOptions& options, const UpdateCall& call) {
  const auto& own = OwnOptionsOf<LionOptions>(options);
  const auto beta1 = static_cast<float>(own.beta1), beta2 = static_cast<float>(own.beta2);
  const auto rate = static_cast<float>(call.rate), scale = static_cast<float>(call.scale);
  const auto decay = static_cast<float>(options.weight_decay);
  const std::span<const float> gradient = call.gradient.values<float>();
  const std::span<float> momentum = call.state[0].values<float>();
  const std::span<float> value = call.value.values<float>();
  for (std::size_t i = 0; i < value.size(); ++i) {
    const float g = scale * gradient[i];
    const float mix = beta1 * momentum[i] + (1 - beta1) * g;
    const auto sign = static_cast<float>((mix > 0) - (mix < 0));
    value[i] -= rate * (sign + decay * value[i]);
    momentum[i] = beta2 * momentum[i] + (1 - beta2) * g;
  }
}

void RegisterOwnParts() {
  static std::once_flag once;
  std::call_once(once, [] {
    Register<Gain>("gain", {MakeField("start", &GainOptions::start, "Its first value.")});
    Register<SqueezeExcitation>("squeeze_excitation",
                                {MakeField("reduction", &SqueezeOptions::reduction,
                                           "Features inside, one in so many.", {.min = 1})});
    RegisterOptimizer<LionOptions>(
        {.name = "lion",
         .doc = "Steps by the sign of a momentum (arXiv:2302.06675).",
         .states = [](const OptimizerOptions&) { return std::size_t{1}; },
         .update = RunLion},
        {MakeField("beta1", &LionOptions::beta1, "Share of the momentum in the step.",
                   {.min = 0, .max = 1, .max_exclusive = true}),
         MakeField("beta2", &LionOptions::beta2, "Decay of the momentum.",
                   {.min = 0, .max = 1, .max_exclusive = true})});
    Metrics().Add(
        {.name = "brier",
         .doc = "Mean square error of probabilities.",
         .larger_is_better = false,
         .make = [](const MetricSetup& setup) { return MakeMetric("perplexity", setup); }});
  });
}

}  // namespace frugal::testing
