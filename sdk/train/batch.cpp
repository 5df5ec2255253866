#include "sdk/train/batch.h"

#include <utility>
#include <vector>

#include "sdk/ops/precision.h"

namespace frugal {

Bundle AllocateInputs(Context& context, const DataLayout& layout, std::int64_t count) {
  const DType exact = context.exact_dtype();
  Bundle inputs = {
      {context.Allocate(layout.BatchShape(count), layout.InputType(exact), MemoryTag::kData)}};
  for (const NetworkInput& condition : layout.conditions) {
    inputs.push_back({context.Allocate(BatchShape(condition, count), TypeOf(condition, exact),
                                       MemoryTag::kData)});
  }
  return inputs;
}

Batch ReadBatch(Context& context, const DataLayout& layout, const DataSource* source,
                std::span<const std::int64_t> samples) {
  const LabelScope label(context, "batch");
  const auto count = static_cast<std::int64_t>(samples.size());
  const DType target_type = layout.classes > 0 ? DType::kI64 : context.exact_dtype();
  const Batch batch = {
      AllocateInputs(context, layout, count),
      context.Allocate(layout.TargetBatchShape(count), target_type, MemoryTag::kData)};
  std::int64_t bytes = batch.targets.bytes();
  for (const Var& input : batch.inputs) bytes += input.value.bytes();
  context.Launch({OperationKind::kData, bytes}, [&](Backend&, void*) {
    source->Fill(samples, batch.inputs[0].value, batch.targets);
    std::vector<Tensor> conditions;
    for (std::size_t i = 1; i < batch.inputs.size(); ++i) {
      conditions.push_back(batch.inputs[i].value);
    }
    if (!conditions.empty()) source->FillConditions(samples, conditions);
  });
  return batch;
}

void ToActivations(Context& context, const DataLayout& layout, Bundle& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() == DType::kI64) continue;
    if (i > 0 && layout.conditions[i - 1].role != InputRole::kValues) continue;
    inputs[i] = ToActivation(context, std::exchange(inputs[i], Var()));
  }
}

}  // namespace frugal
