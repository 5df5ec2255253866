#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sdk/autograd/remat.h"
#include "sdk/memory/trace.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

// Pages out what operations keep for their backward passes, the first of it in each part of a
// batch: its backward comes last. What several operations keep is paged once, so nobody may change
// a value that is kept, as long as anybody holds it.
class ActivationPager {
 public:
  // Pages at most `most_bytes` in a part of a batch, and no tensor of less than `least_bytes`.
  ActivationPager(TensorPager& pager, std::int64_t most_bytes, std::int64_t least_bytes)
      : pager_(pager), most_bytes_(most_bytes), least_bytes_(least_bytes) {}

  // The forward pass of a part of a batch begins. Parts between their passes at the same time have
  // lanes of their own.
  void Begin(std::size_t lane);
  // Returns how the value comes back; null where it stays in memory. `label` is who keeps it.
  std::shared_ptr<Remat> PageOut(const Tensor& value, LabelTable::Id label);
  // Lists what was paged out since the last part began.
  struct Paged {
    LabelTable::Id label = 0;
    std::int64_t bytes = 0;
  };
  const std::vector<Paged>& paged() const { return paged_; }

 private:
  // A value that was paged out, by its address, as long as it lives.
  struct Known {
    std::weak_ptr<const void> storage;
    std::int64_t bytes = 0;
    std::weak_ptr<Remat> remat;
  };

  TensorPager& pager_;
  std::int64_t most_bytes_;
  std::int64_t least_bytes_;
  std::size_t lane_ = 0;
  std::int64_t paged_bytes_ = 0;
  std::vector<Paged> paged_;
  std::unordered_map<const void*, Known> known_;
};

}  // namespace frugal
