#pragma once

#include <vector>

#include "sdk/core/random.h"
#include "sdk/memory/trace.h"

namespace frugal::testing {

// A trace as steps make them: layers go down and up again, each with memory that lives from its
// forward to its backward, some that lives a little longer, and scratch within.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed) : key_(StreamKey(seed, "trace")) {
    Descend(static_cast<int>(10 + Draw(30)));
    for (const std::int64_t index : late_) trace_.End(index);
  }
  const MemoryTrace& trace() const { return trace_; }

 private:
  std::uint64_t Draw(std::uint64_t bound) {
    return static_cast<std::uint64_t>(UniformAt(key_, next_++) * static_cast<double>(bound));
  }
  std::int64_t Begin(std::uint64_t units) {
    const MemoryTag tag = Draw(2) == 0 ? MemoryTag::kActivation : MemoryTag::kWorkspace;
    return trace_.Begin(static_cast<std::int64_t>(64 * (1 + units)), tag, 0, true);
  }
  void Scratch() {
    if (Draw(2) == 0) trace_.End(Begin(Draw(500)));
  }
  void Descend(int depth) {
    if (depth == 0) return;
    const std::int64_t kept = Begin(Draw(1000));
    Scratch();
    if (Draw(8) == 0) late_.push_back(Begin(Draw(100)));
    Descend(depth - 1);
    Scratch();
    const std::int64_t gradient = Begin(Draw(1000));
    trace_.End(kept);
    trace_.End(gradient);
  }

  std::uint64_t key_;
  std::uint64_t next_ = 0;
  MemoryTrace trace_;
  std::vector<std::int64_t> late_;
};

}  // namespace frugal::testing
