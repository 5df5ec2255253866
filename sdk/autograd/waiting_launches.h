#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "sdk/autograd/launch_cost.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Kernels of a segment that runs again which only make results that their own backward passes do
// not need (Context::LaunchResult), until somebody needs those.
class WaitingLaunches {
 public:
  using Run = std::function<void()>;

  bool empty() const { return waiting_.empty(); }
  void Add(OperationKind kind, const Tensor& result, Run run) {
    waiting_.push_back({kind, result, std::move(run)});
  }
  void Clear() { waiting_.clear(); }

  // Run those up to the last that makes this value, or is of this kind, or all. What is before it
  // may make what it reads.
  void RunFor(const Tensor& value);
  void RunUpTo(OperationKind kind);
  void RunAll() { RunFirst(waiting_.size()); }

 private:
  struct Waiting {
    OperationKind kind;
    Tensor result;
    Run run;
  };
  void RunFirst(std::size_t count);

  std::vector<Waiting> waiting_;
};

}  // namespace frugal
