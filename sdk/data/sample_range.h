#pragma once

#include <memory>

#include "sdk/data/data_source.h"

namespace frugal {

// Samples [begin, begin + count) of another source, numbered from 0.
class SampleRange final : public DataSource {
 public:
  SampleRange(std::shared_ptr<const DataSource> source, std::int64_t begin, std::int64_t count);

  std::int64_t count() const override { return count_; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override;
  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override;
  void FillMoreTargets(std::span<const std::int64_t> samples,
                       std::span<const Tensor> targets) const override;

 private:
  std::vector<std::int64_t> Moved(std::span<const std::int64_t> samples) const;

  std::shared_ptr<const DataSource> source_;
  std::int64_t begin_;
  std::int64_t count_;
};

}  // namespace frugal
