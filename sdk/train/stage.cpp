#include "sdk/train/stage.h"

#include <utility>

namespace frugal {

VarTuple InputsBehind(const StageBoundary& boundary, Context& context, Tape* tape,
                      std::vector<int>* slots) {
  VarTuple vars;
  for (const StageVariable& variable : boundary) {
    const bool is_new = variable.same_as < 0;
    Var var = is_new ? Var{.value = context.Allocate(variable.shape, variable.dtype)}
                     : vars[static_cast<std::size_t>(variable.same_as)];
    if (is_new && tape != nullptr && variable.has_slot) var.slot = tape->NewSlot();
    if (slots != nullptr) slots->push_back(is_new ? var.slot : Var::kNoGradient);
    var.is_skip = variable.is_skip;
    vars.push_back(std::move(var));
  }
  return vars;
}

namespace {

Traffic TrafficOf(const StageBoundary& boundary, bool gradients) {
  Traffic traffic;
  for (const StageVariable& variable : boundary) {
    if (variable.same_as >= 0 || (gradients && !variable.gets_gradient)) continue;
    traffic.AddMessage(variable.shape.ElementCount() * SizeOf(variable.dtype));
  }
  return traffic;
}

Traffic TrafficOf(const SharedParameter& shared, const PipelineStage& stage, DType master) {
  Traffic traffic;
  if (!shared.parameter->trainable) return traffic;
  const std::int64_t bytes = shared.parameter->shape.ElementCount() * SizeOf(master);
  const bool owns = shared.stages.front() == stage.index;
  const std::int64_t times = owns ? std::ssize(shared.stages) - 1 : 1;
  for (std::int64_t i = 0; i < times; ++i) traffic.AddMessage(bytes);
  return traffic;
}

}  // namespace

StageTraffic TrafficOf(const PipelineStage& stage, std::span<const DataExchange> exchanges,
                       std::int64_t batch, DType master, bool norm) {
  const auto along = [&](std::int64_t count, DType dtype) {
    return AllReduceTraffic(count, dtype, static_cast<int>(stage.count),
                            static_cast<int>(stage.index));
  };
  StageTraffic traffic;
  const std::int64_t parts = stage.data_count * stage.micro_batches;
  for (std::int64_t i = 0; i < stage.micro_batches; ++i) {
    const std::int64_t number = stage.data_index * stage.micro_batches + i;
    const std::int64_t count = batch / parts + (number < batch % parts ? 1 : 0);
    if (count == 0) continue;
    if (!stage.is_last()) traffic.next += TrafficOf(stage.after(count), false);
    if (!stage.is_first()) traffic.previous += TrafficOf(stage.before(count), true);
  }
  constexpr std::int64_t kResults = 2;  // the loss, and how many outputs are right
  traffic.pipeline += along(kResults, DType::kF64);
  traffic.data += AllReduceTraffic(kResults, DType::kF64, static_cast<int>(stage.data_count),
                                   static_cast<int>(stage.data_index));
  for (const SharedParameter& shared : stage.shared) {
    traffic.pipeline += TrafficOf(shared, stage, master);
  }
  traffic.data += frugal::TrafficOf(exchanges, stage.data_count, stage.data_index);
  if (norm) traffic.pipeline += along(stage.parameters, DType::kF64);
  return traffic;
}

}  // namespace frugal
