#include "builders/inference/predictor_slot.h"

#include "sdk/core/byte_size.h"
#include "sdk/train/step.h"

namespace frugal {
namespace {

std::unique_ptr<PlannedArena> ArenaOf(const TrainingMemoryConfig& memory) {
  if (!memory.use_activation_pooling) return nullptr;
  return std::make_unique<PlannedArena>(memory.max_pool_memory_mb * kBytesPerMegabyte);
}

}  // namespace

PredictorSlot::PredictorSlot(const PlannedTraining& planned, ParameterStore& weights)
    : planned_(planned),
      backend_(MakeBackend(planned.config.training.backend,
                           ProductsOf(planned.config.training.precision))),
      arena_(ArenaOf(planned.config.memory)),
      step_(ledger_, arena_ ? static_cast<Allocator&>(*arena_) : heap_, true),
      context_(Context::Parts{.backend = *backend_,
                              .ledger = ledger_,
                              .step_memory = step_,
                              .parameters = weights,
                              .dtype = planned.dtype(),
                              .seed = planned.seed()}) {
  if (arena_) arena_->ReserveFor(planned.plan.arena_bytes);
}

PredictedValues PredictorSlot::Run(std::span<const InputValues> inputs, std::int64_t count,
                                   const ArenaLayout& layout) {
  PredictedValues outputs;
  if (arena_) arena_->Begin(layout);
  try {
    PredictStep(context_, planned_.step_parts(), inputs, count, outputs);
  } catch (...) {
    if (arena_) arena_->Abandon();
    throw;
  }
  if (arena_) arena_->End();
  peak_bytes_ = ledger_.peak_total();
  return outputs;
}

}  // namespace frugal
