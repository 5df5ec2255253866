#pragma once

namespace frugal {

// Upper ends of fields that sizes are computed from, so that no product of a few of them overflows
// 64 bits. Far above what any machine can hold.
inline constexpr double kMostPerAxis = 2147483647;     // extents, channels, batches
inline constexpr double kMostFactor = 4096;            // that an axis grows by in one layer
inline constexpr double kMostSamples = 1099511627776;  // 2^40, of a data set
inline constexpr double kMostEpochs = 1000000;
inline constexpr double kMostThreads = 1024;

}  // namespace frugal
