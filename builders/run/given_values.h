#pragma once

#include <span>
#include <string>
#include <vector>

#include "sdk/data/data_source.h"
#include "sdk/module/network_input.h"
#include "sdk/train/step_parts.h"

namespace frugal {

// Throws UsageError naming the input whose values are missing, of the wrong kind or number, or out
// of range; `advice` says where to look.
void CheckGivenInputs(const std::string& where, const NetworkInputs& inputs,
                      std::span<const InputValues> given, std::int64_t count,
                      const std::string& advice);

// A batch that the program holds, as a source of so many samples. The values must outlive it.
class GivenValues final : public DataSource {
 public:
  // `inputs` are the data's: the first one, then DataLayout::conditions; `targets` those that
  // outputs are compared with, then DataLayout::more_targets; none where `takes_targets` is false.
  // Throws UsageError, with `where` as its place, where they are not as the layout has them.
  GivenValues(const std::string& where, const DataLayout& layout, bool takes_targets,
              std::span<const InputValues> inputs, std::span<const InputValues> targets,
              std::int64_t count);

  std::int64_t count() const override { return count_; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override;
  void FillConditions(std::span<const std::int64_t> samples,
                      std::span<const Tensor> conditions) const override;
  void FillMoreTargets(std::span<const std::int64_t> samples,
                       std::span<const Tensor> targets) const override;

 private:
  std::span<const InputValues> inputs_;
  std::span<const InputValues> targets_;
  std::int64_t count_;
};

}  // namespace frugal
