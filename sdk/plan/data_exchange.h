#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sdk/comm/traffic.h"

namespace frugal {

// One thing that a device does with the replicas of its stage in a step: a sum for all of them or
// for one, or a value that one of them sends to the others.
struct DataExchange {
  enum class Kind : std::uint8_t { kSum, kBroadcast, kGather };

  Kind kind = Kind::kSum;
  std::int64_t count = 0;  // of elements; for kGather, of all replicas' parts together
  DType dtype = DType::kF32;
  std::optional<std::int64_t> root{};  // of a broadcast, or the only one that gets the sums
};

// Returns what replica `rank` of `size` hands to the others.
Traffic TrafficOf(std::span<const DataExchange> exchanges, std::int64_t size, std::int64_t rank);

}  // namespace frugal
