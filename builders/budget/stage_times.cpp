#include "builders/budget/stage_times.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "sdk/core/log.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRepeats = 3;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double ModelSeconds(const PassWork& work, double flops) {
  return work.flops / flops + static_cast<double>(work.bytes) / kModelBandwidth;
}

struct Seconds {
  double forward = 1e30;
  double backward = 1e30;
};

// Memory straight from the system, and weights that are zero until they are asked for.
class RealWorld {
 public:
  explicit RealWorld(const Blueprint& blueprint)
      : memory_(ledger_, heap_, true),
        store_(memory_, ledger_, {.dtype = ExactType(blueprint.dtype()), .start_at_zero = true}),
        context_({.backend = *blueprint.backend,
                  .ledger = ledger_,
                  .step_memory = memory_,
                  .parameters = store_,
                  .dtype = blueprint.dtype()}) {
    context_.set_training(true);
  }
  Context& context() { return context_; }

 private:
  HeapAllocator heap_;
  MemoryLedger ledger_;
  TrackedAllocator memory_;
  ParameterStore store_;
  Context context_;
};

Tensor Filled(Context& context, const Shape& shape, DType type, double value) {
  const Tensor tensor = context.Allocate(shape, type);
  if (type == DType::kI64) {
    std::fill_n(tensor.data<std::int64_t>(), tensor.size(), 0);  // token 0
  } else {
    context.Launch({OperationKind::kData, BytesOf(tensor)},
                   [&](Backend& backend, void*) { backend.elementwise().Fill(tensor, value); });
  }
  return tensor;
}

void RunOnce(Context& context, const Stage& stage, const Tensor& input, Seconds& shortest) {
  Tape tape;
  const TapeScope scope(context, &tape);
  context.parameters().ClearGradients();
  const Var leaf = {input, stage.input_needs_gradient ? tape.NewSlot() : Var::kNoGradient};
  auto start = Clock::now();
  Var output = stage.up_to_projection ? stage.layer->RunUpToProjection(context, leaf)
                                      : (*stage.layer)(context, leaf);
  shortest.forward = std::min(shortest.forward, SecondsSince(start));
  if (output.slot == Var::kNoGradient) return;
  const int slot = output.slot;
  const Tensor gradient = Filled(context, output.shape(), output.value.dtype(), 1);
  output = Var();
  start = Clock::now();
  tape.Backward(context, slot, gradient);
  shortest.backward = std::min(shortest.backward, SecondsSince(start));
}

Seconds MeasureOne(const Blueprint& blueprint, const Stage& stage) {
  RealWorld world(blueprint);
  const Tensor input = Filled(world.context(), stage.input, stage.input_type, 0.5);
  Seconds shortest;
  for (int i = 0; i <= kRepeats; ++i) {
    Seconds seconds;
    RunOnce(world.context(), stage, input, seconds);
    if (i == 0) continue;  // primitives are made and pages touched
    shortest.forward = std::min(shortest.forward, seconds.forward);
    shortest.backward = std::min(shortest.backward, seconds.backward);
  }
  if (shortest.backward > 1e29) shortest.backward = 0;  // nothing to differentiate
  return shortest;
}

// Stages of one kind take the same time.
std::string KindOf(const Stage& stage) {
  return stage.layer->Describe() + " " + ToString(stage.input) + " " +
         std::to_string(stage.layer->ParameterCount()) + (stage.up_to_projection ? " part" : "") +
         (stage.input_needs_gradient ? "" : " first");
}

}  // namespace

void ModelTimes(DType dtype, std::vector<Stage>& stages) {
  const double flops = dtype == DType::kBF16 ? kModelFlopsBf16 : kModelFlops;
  for (Stage& stage : stages) {
    stage.chain.forward_seconds = ModelSeconds(stage.forward, flops);
    stage.chain.backward_seconds = ModelSeconds(stage.backward, flops);
  }
}

void MeasureTimes(const Blueprint& blueprint, std::vector<Stage>& stages) {
  ModelTimes(blueprint.dtype(), stages);  // of the loss, which always runs once
  std::map<std::string, Seconds> measured;
  const auto start = Clock::now();
  bool told = false;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    if (stage.layer == nullptr) continue;
    const auto [found, is_new] = measured.try_emplace(KindOf(stage));
    if (is_new) found->second = MeasureOne(blueprint, stage);
    stage.chain.forward_seconds = found->second.forward;
    stage.chain.backward_seconds = found->second.backward;
    if (told || SecondsSince(start) < 2) continue;
    told = true;
    LogInfo("planner_costs = \"measured\": stage " + std::to_string(i + 1) + " of " +
            std::to_string(stages.size()) + " after " +
            std::to_string(static_cast<int>(SecondsSince(start))) + " s");
  }
}

}  // namespace frugal
