#include "builders/budget/free_knobs.h"

#include <algorithm>

namespace frugal {
namespace {

// Returns true where such a layer is anywhere in the tree.
template <class Predicate>
bool Holds(const Module& module, const Predicate& is_such) {
  return std::ranges::any_of(module.children(), [&](const Module::Child& child) {
    const auto* layer = dynamic_cast<const Layer*>(child.module);
    return (layer != nullptr && is_such(*layer)) || Holds(*child.module, is_such);
  });
}

// Returns true where the planner may decide: a plan that was made from another plan's configuration
// keeps what that chose.
bool IsFree(const RunConfig& config, const char* key) {
  return config.origins.Of(key).kind < OriginKind::kPlanner;
}

FreeKnobs::Segments FreeSegments(const RunConfig& config) {
  if (config.origins.Of("memory.use_gradient_checkpointing").IsExplicit()) {
    return FreeKnobs::Segments::kAsStated;
  }
  for (const char* key :
       {"memory.checkpoint_every_n_layers", "memory.checkpoint_attention_layers",
        "memory.checkpoint_residual_blocks", "memory.high_activation_memory_threshold_bytes"}) {
    if (config.origins.Of(key).IsExplicit()) return FreeKnobs::Segments::kPolicyOrNone;
  }
  return FreeKnobs::Segments::kAny;
}

}  // namespace

FreeKnobs FreeKnobsOf(const TrainingSetup& setup) {
  const RunConfig& config = setup.config;
  FreeKnobs free;
  free.segments = FreeSegments(config);
  free.optimizer_in_backward = !config.memory.optimizer_in_backward && !setup.optimizer->clips() &&
                               IsFree(config, "memory.optimizer_in_backward");
  const auto counts_alike = [](const NetworkOutput& output) {
    return CountsSamplesAlike(output.options.loss);
  };
  free.micro_batches = CountsSamplesAlike(config.loss) &&
                       std::ranges::all_of(setup.more_outputs, counts_alike) &&
                       !HasBatchStatistics(setup) && !MixesSamples(setup) &&
                       IsFree(config, "training.gradient_accumulation_steps");
  free.evaluation_batch = setup.schedule.evaluates() && !MixesSamples(setup) &&
                          IsFree(config, "training.evaluation_batch_size");
  free.loss_chunk_rows =
      ProjectionForLoss(StepPartsOf(setup, SettingsOf(setup.config), {})).has_value() &&
      IsFree(config, "training.loss_chunk_rows");
  return free;
}

bool HasBatchStatistics(const TrainingSetup& setup) {
  return std::ranges::any_of(setup.parameters, [](const Parameter* parameter) {
    return parameter->path.ends_with("running_mean");
  });
}

bool HasDropout(const TrainingSetup& setup) {
  return Holds(*setup.network,
               [](const Layer& layer) { return layer.kind() == LayerKind::kDropout; });
}

bool MixesSamples(const TrainingSetup& setup) {
  return Holds(*setup.network, [](const Layer& layer) { return layer.MixesSamples(); });
}

}  // namespace frugal
