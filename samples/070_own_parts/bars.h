#pragma once

#include <cstdint>

// Data of a program's own: noisy images of 12 x 12 with a horizontal bar, a vertical one or a
// cross. No file is read.
struct BarsOptions {
  std::int64_t count = 2048;  // samples of each part
  double noise = 1;           // its largest value
};

// Makes them known to files: [data] dataset = "bars", and [data.bars] with these options.
void RegisterBars();
