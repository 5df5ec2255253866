#pragma once

#include <string>
#include <vector>

namespace frugal {

struct Tick {
  double at = 0;
  std::string text;
};

// One axis of a chart: its range, and ticks at round numbers inside it.
struct Axis {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;
  std::string title;

  double ShareOf(double value) const;  // 0 at low, 1 at high
};

// All take any finite range, also an empty one, which they widen.
Axis CountAxis(double low, double high, std::string title);    // whole numbers; exactly this range
Axis ValueAxis(double low, double high, std::string title);    // widened to round numbers
Axis PercentAxis(double low, double high, std::string title);  // shares; within 0 and 1
Axis BytesAxis(double high, std::string title);                // from 0 to `high`, in B, KB or MB

// Multiples of 1, 2 or 5 times a power of ten that lie in [low, high]: at most `most`, at least 2
// where the range is not empty. With `whole`, no fractions.
double RoundStep(double low, double high, int most, bool whole);

}  // namespace frugal
