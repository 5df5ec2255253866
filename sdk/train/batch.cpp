#include "sdk/train/batch.h"

#include <utility>
#include <vector>

#include "sdk/ops/support/precision.h"

namespace frugal {

VarTuple AllocateInputs(Context& context, std::span<const NetworkInput> inputs,
                        std::int64_t count) {
  VarTuple vars;
  for (const NetworkInput& input : inputs) {
    vars.push_back({context.Allocate(BatchShape(input, count),
                                     TypeOf(input, context.master_dtype()), MemoryTag::kData)});
  }
  return vars;
}

std::vector<Tensor> AllocateMoreTargets(Context& context, const DataLayout& layout,
                                        std::int64_t count) {
  std::vector<Tensor> all;
  for (const NamedTargets& targets : layout.more_targets) {
    all.push_back(context.Allocate(BatchShape(targets, count),
                                   targets.classes > 0 ? DType::kI64 : context.master_dtype(),
                                   MemoryTag::kData));
  }
  return all;
}

Tensor AllocateWeights(Context& context, const DataLayout& layout, std::int64_t count) {
  if (!layout.sample_weights) return {};
  return context.Allocate({count}, context.master_dtype(), MemoryTag::kData);
}

Batch ReadBatch(Context& context, const DataLayout& layout, const BatchParts& parts,
                const DataSource* source, std::span<const std::int64_t> samples) {
  const LabelScope label(context, "batch");
  const auto count = static_cast<std::int64_t>(samples.size());
  const DType target_type = layout.classes > 0 ? DType::kI64 : context.master_dtype();
  Batch batch;
  if (parts.inputs) {
    const DType input_type = layout.InputType(context.master_dtype());
    batch.inputs = {{context.Allocate(layout.BatchShape(count), input_type, MemoryTag::kData)}};
    for (Var& condition : AllocateInputs(context, layout.conditions, count)) {
      batch.inputs.push_back(std::move(condition));
    }
  }
  if (parts.targets) {
    batch.targets = context.Allocate(layout.TargetBatchShape(count), target_type, MemoryTag::kData);
    batch.more_targets = AllocateMoreTargets(context, layout, count);
    batch.weights = AllocateWeights(context, layout, count);
  }
  std::int64_t bytes = batch.targets.bytes() + BytesOf(batch.weights);
  for (const Var& input : batch.inputs) bytes += input.value.bytes();
  for (const Tensor& targets : batch.more_targets) bytes += targets.bytes();
  context.Launch({OperationKind::kData, bytes}, [&](Backend&, void*) {
    source->Fill(samples, parts.inputs ? batch.inputs[0].value : Tensor(), batch.targets);
    if (batch.weights) source->FillWeights(samples, batch.weights);
    std::vector<Tensor> conditions;
    for (std::size_t i = 1; i < batch.inputs.size(); ++i) {
      conditions.push_back(batch.inputs[i].value);
    }
    if (!conditions.empty()) source->FillConditions(samples, conditions);
    if (!batch.more_targets.empty()) source->FillMoreTargets(samples, batch.more_targets);
  });
  return batch;
}

void ToActivations(Context& context, std::span<const NetworkInput> inputs, VarTuple& vars) {
  for (std::size_t i = 0; i < vars.size(); ++i) {
    if (inputs[i].role != InputRole::kSample && inputs[i].role != InputRole::kValues) continue;
    vars[i] = ToActivation(context, std::exchange(vars[i], Var()));
  }
}

}  // namespace frugal
