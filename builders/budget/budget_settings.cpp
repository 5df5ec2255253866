#include "builders/budget/budget_settings.h"

#include <algorithm>

namespace frugal {
namespace {

// Whether such a layer is anywhere in the tree.
template <class Predicate>
bool Holds(const Module& module, const Predicate& is_such) {
  return std::ranges::any_of(module.children(), [&](const Module::Child& child) {
    const auto* layer = dynamic_cast<const Layer*>(child.module);
    return (layer != nullptr && is_such(*layer)) || Holds(*child.module, is_such);
  });
}

// Whether the planner may decide: a plan that was made from another plan's configuration keeps what
// that chose.
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

template <class T>
void Choose(T& field, const T& value, const char* key, RunConfig& config) {
  if (field == value) return;
  field = value;
  config.origins.Set(key, Origin::Planner());
}

}  // namespace

BudgetSettings SettingsOf(const RunConfig& config) {
  return {.optimizer_in_backward = config.memory.optimizer_in_backward,
          .accumulate = config.training.accumulate,
          .evaluation_batch = config.training.evaluation_batch_size,
          .loss_chunk_rows = config.training.loss_chunk_rows,
          .use_gradient_checkpointing = config.memory.use_gradient_checkpointing};
}

void Apply(const RunConfig& stated, const BudgetSettings& settings, Blueprint& blueprint) {
  blueprint.config = stated;
  RunConfig& config = blueprint.config;
  Choose(config.memory.use_gradient_checkpointing, settings.use_gradient_checkpointing,
         "memory.use_gradient_checkpointing", config);
  Choose(config.memory.optimizer_in_backward, settings.optimizer_in_backward,
         "memory.optimizer_in_backward", config);
  Choose(config.training.accumulate, settings.accumulate, "training.accumulate", config);
  Choose(config.training.evaluation_batch_size, settings.evaluation_batch,
         "training.evaluation_batch_size", config);
  Choose(config.training.loss_chunk_rows, settings.loss_chunk_rows, "training.loss_chunk_rows",
         config);
  blueprint.program.evaluation_batch = settings.evaluation_batch;
}

FreeKnobs FreeKnobsOf(const Blueprint& blueprint) {
  const RunConfig& config = blueprint.config;
  FreeKnobs free;
  free.segments = FreeSegments(config);
  free.optimizer_in_backward = !config.memory.optimizer_in_backward &&
                               !blueprint.optimizer->clips() &&
                               IsFree(config, "memory.optimizer_in_backward");
  free.accumulate = config.loss.ignore_index == LossOptions().ignore_index &&
                    !HasBatchStatistics(blueprint) && !MixesSamples(blueprint) &&
                    IsFree(config, "training.accumulate");
  free.evaluation_batch = blueprint.program.test_samples > 0 && !MixesSamples(blueprint) &&
                          IsFree(config, "training.evaluation_batch_size");
  free.loss_chunk_rows = ProjectionForLoss(blueprint.step_parts()).has_value() &&
                         IsFree(config, "training.loss_chunk_rows");
  return free;
}

bool HasBatchStatistics(const Blueprint& blueprint) {
  return std::ranges::any_of(blueprint.parameters, [](const Parameter* parameter) {
    return parameter->path.ends_with("running_mean");
  });
}

bool HasDropout(const Blueprint& blueprint) {
  return Holds(*blueprint.network,
               [](const Layer& layer) { return layer.kind() == LayerKind::kDropout; });
}

bool MixesSamples(const Blueprint& blueprint) {
  return Holds(*blueprint.network, [](const Layer& layer) { return layer.MixesSamples(); });
}

}  // namespace frugal
