#include "sdk/data/sample_range.h"

#include <utility>

namespace frugal {

SampleRange::SampleRange(std::shared_ptr<const DataSource> source, std::int64_t begin,
                         std::int64_t count)
    : source_(std::move(source)), begin_(begin), count_(count) {}

std::vector<std::int64_t> SampleRange::Moved(std::span<const std::int64_t> samples) const {
  std::vector<std::int64_t> moved(samples.begin(), samples.end());
  for (std::int64_t& sample : moved) sample += begin_;
  return moved;
}

void SampleRange::Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
                       const Tensor& targets) const {
  source_->Fill(Moved(samples), inputs, targets);
}

void SampleRange::FillConditions(std::span<const std::int64_t> samples,
                                 std::span<const Tensor> conditions) const {
  source_->FillConditions(Moved(samples), conditions);
}

void SampleRange::FillMoreTargets(std::span<const std::int64_t> samples,
                                  std::span<const Tensor> targets) const {
  source_->FillMoreTargets(Moved(samples), targets);
}

}  // namespace frugal
