#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace frugal {

// Within so many bytes, and more up to those of the next step, so many seconds are the least.
struct ChainStep {
  std::int64_t bytes = 0;
  double seconds = 0;

  bool operator==(const ChainStep&) const = default;
};

// A function of bytes that falls in steps: each takes more bytes and fewer seconds than the one
// before it. Below the first there is nothing.
using ChainSteps = std::vector<ChainStep>;

inline constexpr double kNeverSeconds = std::numeric_limits<double>::infinity();

// Returns the seconds within so many bytes; infinite where there is nothing.
double SecondsWithin(std::span<const ChainStep> steps, std::int64_t bytes);

// One of two parts that run one after the other: its steps, and bytes that are there beside it.
struct ChainPart {
  std::span<const ChainStep> steps;
  std::int64_t beside = 0;
};

// How steps that are too many become fewer.
enum class StepRounding : std::uint8_t {
  kUp,    // some are left out: what is said to fit, fits
  kDown,  // some take the seconds of the one behind them: all that fits is said to fit
};

// Makes the steps of the fastest of several ways: their lower envelope.
class FastestSteps {
 public:
  explicit FastestSteps(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Takes a way that does one part and then the other, in so many seconds beside, and needs at
  // least so many bytes. Steps of more than the limit are left out.
  void Take(double seconds, std::int64_t least_bytes, const ChainPart& one, const ChainPart& other);
  // Leaves at most so many, or two.
  void Thin(std::size_t most, StepRounding rounding);

  const ChainSteps& steps() const { return steps_; }
  // Begins anew, with no way.
  void Clear() { steps_.clear(); }

 private:
  void Merge();

  std::int64_t limit_bytes_;
  ChainSteps steps_;
  ChainSteps taken_, merged_;  // kept for their memory
};

}  // namespace frugal
