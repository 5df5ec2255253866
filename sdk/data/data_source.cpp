#include "sdk/data/data_source.h"

#include <vector>

#include "sdk/core/error.h"

namespace frugal {
namespace {

Shape Prepend(std::int64_t batch, const Shape& shape) {
  std::vector<std::int64_t> extents = {batch};
  extents.insert(extents.end(), shape.extents().begin(), shape.extents().end());
  return Shape(extents);
}

}  // namespace

Shape DataLayout::BatchShape(std::int64_t batch) const { return Prepend(batch, sample_shape); }

Shape DataLayout::TargetBatchShape(std::int64_t batch) const {
  return Prepend(batch, classes > 0 ? label_shape : target_shape);
}

std::string_view NameOf(DatasetPart part) {
  if (part == DatasetPart::kTrain) return "training";
  return part == DatasetPart::kTest ? "test" : "validation";
}

Shape BatchShape(const NamedTargets& targets, std::int64_t batch) {
  return Prepend(batch, targets.shape);
}

void DataSource::FillConditions(std::span<const std::int64_t>, std::span<const Tensor>) const {
  throw UsageError({.where = "DataSource::FillConditions",
                    .required = "the data hold what the network takes beside its first input",
                    .given = "this source has inputs and targets only",
                    .advice = "override FillConditions"});
}

void DataSource::FillMoreTargets(std::span<const std::int64_t>, std::span<const Tensor>) const {
  throw UsageError({.where = "DataSource::FillMoreTargets",
                    .required = "the data hold what all outputs of the network are compared with",
                    .given = "this source has the targets of the first one only",
                    .advice = "override FillMoreTargets"});
}

void DataSource::FillWeights(std::span<const std::int64_t>, const Tensor&) const {
  throw UsageError(
      {.where = "DataSource::FillWeights",
       .required = "the data hold a weight for each sample (sample_weights = true)",
       .given = "this source has inputs and targets only",
       .advice = "override FillWeights, or leave DataLayout::sample_weights at false"});
}

}  // namespace frugal
