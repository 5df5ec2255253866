#include "samples/070_own_parts/lion.h"

#include <frugal/optimizers.h>

#include <utility>

using namespace frugal;

namespace {

// Moves value x by gradient g and momentum m: x -= rate (sign(beta1 m + (1 - beta1) g) + decay x),
// then m = beta2 m + (1 - beta2) g.
void RunLion(Backend&, const OptimizerOptions& options, const UpdateCall& call) {
  const auto& own = OwnOptionsOf<LionOptions>(options);
  const auto beta1 = static_cast<float>(own.beta1), beta2 = static_cast<float>(own.beta2);
  const auto rate = static_cast<float>(call.rate), scale = static_cast<float>(call.scale);
  const auto decay = static_cast<float>(options.weight_decay);
  const std::span<float> gradient = call.gradient.values<float>();
  const std::span<float> momentum = call.state[0].values<float>();
  const std::span<float> value = call.value.values<float>();
  ParallelFor(call.value.size(), 4096, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); std::cmp_less(i, end); ++i) {
      const float g = scale * gradient[i];
      const float mix = beta1 * momentum[i] + (1 - beta1) * g;
      const auto sign = static_cast<float>((mix > 0) - (mix < 0));
      value[i] -= rate * (sign + decay * value[i]);
      momentum[i] = beta2 * momentum[i] + (1 - beta2) * g;
    }
  });
}

}  // namespace

void RegisterLion() {
  RegisterOptimizer<LionOptions>(
      {.name = "lion",
       .doc = "Steps by the sign of a momentum (arXiv:2302.06675).",
       .states = [](const OptimizerOptions&) { return std::size_t{1}; },
       .update = RunLion},
      {MakeField("beta1", &LionOptions::beta1, "Share of the momentum in the step.",
                 {.min = 0, .max = 1, .max_exclusive = true}),
       MakeField("beta2", &LionOptions::beta2, "Decay of the momentum.",
                 {.min = 0, .max = 1, .max_exclusive = true})});
}
