#include "sdk/train/gradient_buckets.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sdk/module/parameter_store.h"
#include "sdk/train/step_pieces.h"

namespace frugal {
namespace {

std::int64_t BytesOf(const std::vector<const Parameter*>& parameters, DType dtype) {
  std::int64_t bytes = 0;
  for (const Parameter* parameter : parameters) {
    bytes += parameter->shape.ElementCount() * SizeOf(dtype);
  }
  return bytes;
}

bool IsShared(const PipelineStage& stage, std::size_t index) {
  return std::ranges::any_of(stage.shared, [&](const SharedParameter& shared) {
    return shared.parameter->index == index;
  });
}

}  // namespace

GradientBuckets::GradientBuckets(Context& context, const StepParts& parts,
                                 const PipelineStage& stage, ReplicaExchange& exchange,
                                 bool each_has_samples)
    : context_(context),
      parts_(parts),
      stage_(stage),
      exchange_(exchange),
      in_backward_(each_has_samples && parts.reduction_groups == 1),
      taken_(static_cast<std::size_t>(stage.parameters)) {}

// A step that ends in an error leaves gradients in memory of that step.
GradientBuckets::~GradientBuckets() {
  for (const Parameter* parameter : parts_.parameters) {
    if (!HoldsGradient(*parameter)) context_.parameters().FreeGradient(*parameter);
  }
}

void GradientBuckets::TakeFinal() {
  if (!in_backward_) return;
  for (const std::size_t index : context_.parameters().TakeFinal(parts_.summed_after)) {
    if (IsShared(stage_, index)) continue;  // other stages add to it
    const auto found = std::ranges::lower_bound(parts_.parameters, index, {}, &Parameter::index);
    JoinTable(context_, **found);
    Add(**found);
  }
  if (!sums_.empty() && sums_.front().pending != nullptr) {
    context_.Launch({OperationKind::kCommunication, 0},
                    [&](Backend&, void*) { sums_.front().pending->Progress(); });
  }
}

void GradientBuckets::Finish() {
  for (const Parameter* parameter : parts_.parameters) {
    const std::size_t index = parameter->index;
    const bool gets_any = index < parts_.summed_after.size() && parts_.summed_after[index] > 0;
    if (gets_any && !taken_[index]) Add(*parameter);
  }
  for (auto& [root, parameters] : open_) {
    if (!parameters.empty()) Start(std::exchange(parameters, {}), root);
  }
  while (!sums_.empty()) FinishOldest();
}

void GradientBuckets::Add(const Parameter& parameter) {
  taken_[parameter.index] = true;
  const std::int64_t holder = stage_.shards.HolderOf(parameter);
  const Root root = holder == ParameterShards::kEveryReplica ? Root() : Root(holder);
  const DType dtype = context_.master_dtype();
  if (BytesOf({&parameter}, dtype) >= stage_.bucket_bytes) return Start({&parameter}, root);
  std::vector<const Parameter*>& bucket = open_[root];
  bucket.push_back(&parameter);
  if (BytesOf(bucket, dtype) >= stage_.bucket_bytes) Start(std::exchange(bucket, {}), root);
}

Tensor GradientBuckets::Packed(const std::vector<const Parameter*>& parameters) {
  const DType dtype = context_.master_dtype();
  Tensor packed =
      context_.Allocate({BytesOf(parameters, dtype) / SizeOf(dtype)}, dtype, MemoryTag::kGradient);
  std::int64_t at = 0;
  for (const Parameter* parameter : parameters) {
    const Tensor gradient = GradientOrNone(context_, *parameter);
    context_.Launch({OperationKind::kCommunication, 2 * gradient.bytes()}, [&](Backend&, void*) {
      std::memcpy(static_cast<std::byte*>(packed.raw()) + at, gradient.raw(),
                  static_cast<std::size_t>(gradient.bytes()));
    });
    at += gradient.bytes();
    if (!HoldsGradient(*parameter)) context_.parameters().FreeGradient(*parameter);
  }
  return packed;
}

void GradientBuckets::Start(std::vector<const Parameter*> parameters, const Root& root) {
  if (sums_.size() == kOnTheirWay) FinishOldest();
  const LabelScope label(context_, "gradients of replicas");
  Sum sum;
  sum.buffer =
      parameters.size() == 1 ? GradientOrNone(context_, *parameters.front()) : Packed(parameters);
  sum.root = root;
  sum.pending = exchange_.StartSum(sum.buffer, root, "gradients of " + parameters.front()->path);
  sum.parameters = std::move(parameters);
  sums_.push_back(std::move(sum));
}

void GradientBuckets::FinishOldest() {
  Sum sum = std::move(sums_.front());
  sums_.pop_front();
  context_.Launch({OperationKind::kCommunication, 0}, [&](Backend&, void*) {
    sum.pending->Wait();
    sum.pending.reset();
  });
  if (sum.parameters.size() > 1) return Unpack(sum);
  const Parameter& parameter = *sum.parameters.front();
  if (!HoldsGradient(parameter)) context_.parameters().FreeGradient(parameter);
}

// A bucket belongs to one replica or to all.
void GradientBuckets::Unpack(const Sum& sum) {
  if (sum.root && sum.root != stage_.data_index) return;
  std::int64_t at = 0;
  for (const Parameter* parameter : sum.parameters) {
    const Tensor gradient = context_.parameters().Gradient(*parameter);
    context_.Launch({OperationKind::kCommunication, 2 * gradient.bytes()}, [&](Backend&, void*) {
      std::memcpy(gradient.raw(), static_cast<const std::byte*>(sum.buffer.raw()) + at,
                  static_cast<std::size_t>(gradient.bytes()));
    });
    at += gradient.bytes();
  }
}

}  // namespace frugal
