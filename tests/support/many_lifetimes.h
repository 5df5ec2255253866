#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/core/random.h"
#include "sdk/memory/trace.h"

namespace frugal::testing {

// Ways in which the lives of many buffers may lie to each other.
enum class LifetimePattern : std::uint8_t {
  kTraining,  // kept from a forward pass to the backward pass, with scratch and gradients between
  kShort,     // all but one in a hundred live for a few events only
  kRandom,    // begin and end anywhere in the trace: half of all live in its middle
};
inline constexpr std::array kLifetimePatterns = {LifetimePattern::kTraining,
                                                 LifetimePattern::kShort, LifetimePattern::kRandom};

inline std::string_view NameOf(LifetimePattern pattern) {
  if (pattern == LifetimePattern::kTraining) return "training";
  return pattern == LifetimePattern::kShort ? "short" : "random";
}

// Makes traces of so many buffers, which begin and end in the order of random numbers.
class ManyLifetimes {
 public:
  ManyLifetimes(LifetimePattern pattern, std::int64_t count)
      : key_(StreamKey(1, NameOf(pattern))), count_(count) {
    if (pattern == LifetimePattern::kTraining) Train();
    if (pattern == LifetimePattern::kShort) Shorten();
    if (pattern == LifetimePattern::kRandom) Scatter();
  }
  const MemoryTrace& trace() const { return trace_; }

 private:
  double Draw() { return UniformAt(key_, next_++); }
  std::int64_t DrawUpTo(std::int64_t bound) {
    return 1 + static_cast<std::int64_t>(Draw() * static_cast<double>(bound));
  }
  // Small sizes are as frequent as large ones, by orders of magnitude.
  std::int64_t Begin() {
    const auto units = static_cast<std::int64_t>(std::exp2(16 * Draw()));
    return trace_.Begin(64 * units, MemoryTag::kActivation, 0, true);
  }

  // A layer takes five: what it keeps, scratch forward and back, and two gradients.
  void Train() {
    std::vector<std::int64_t> kept;
    for (std::int64_t i = 0; i < count_ / 5; ++i) {
      kept.push_back(Begin());
      trace_.End(Begin());
    }
    std::int64_t gradient = Begin();
    for (; !kept.empty(); kept.pop_back()) {
      const std::int64_t next = Begin();
      const std::int64_t weights = Begin();
      trace_.End(Begin());
      trace_.End(gradient);
      trace_.End(kept.back());
      trace_.End(weights);
      gradient = next;
    }
    trace_.End(gradient);
  }

  // Ends come when their time is reached, in the order of their times.
  void Shorten() {
    using End = std::pair<std::int64_t, std::int64_t>;  // time and index
    std::vector<End> ends;                              // a heap, the earliest first
    for (std::int64_t now = 0; now < count_; ++now) {
      const bool is_long = Draw() < 0.01;
      const std::int64_t begun = Begin();
      ends.emplace_back(now + DrawUpTo(is_long ? 20'000 : 10), begun);
      std::ranges::push_heap(ends, std::ranges::greater{});
      for (; !ends.empty() && ends.front().first <= now; ends.pop_back()) {
        std::ranges::pop_heap(ends, std::ranges::greater{});
        trace_.End(ends.back().second);
      }
    }
    for (const End& end : ends) trace_.End(end.second);
  }

  void Scatter() {
    std::vector<std::int64_t> owners;  // of two events each, in random order
    for (std::int64_t i = 0; i < 2 * count_; ++i) owners.push_back(i / 2);
    for (std::size_t i = owners.size(); i > 1; --i) {
      std::swap(owners[i - 1], owners[static_cast<std::size_t>(Draw() * static_cast<double>(i))]);
    }
    std::vector<std::int64_t> begun(static_cast<std::size_t>(count_), -1);
    for (const std::int64_t owner : owners) {
      std::int64_t& index = begun[static_cast<std::size_t>(owner)];
      if (index < 0) {
        index = Begin();
      } else {
        trace_.End(index);
      }
    }
  }

  std::uint64_t key_;
  std::uint64_t next_ = 0;
  std::int64_t count_;
  MemoryTrace trace_;
};

}  // namespace frugal::testing
