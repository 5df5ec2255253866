#pragma once

#include <cstdint>

#include "sdk/core/dtype.h"

namespace frugal {

// Counts what a rank hands to others: each part of a buffer that one other rank needs is a message,
// and nothing is none.
struct Traffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  void AddMessage(std::int64_t size) {
    if (size == 0) return;
    ++messages;
    bytes += size;
  }
  Traffic& operator+=(const Traffic& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};

// Consecutive elements of a buffer.
struct CommPart {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
// Returns what of `count` elements belongs to a rank: the parts of all follow each other, and the
// first count % size of them have one more.
CommPart PartOf(std::int64_t count, int size, int rank);

// Returns what one rank of a group hands to the others in a collective operation on `count`
// elements.
Traffic AllReduceTraffic(std::int64_t count, DType dtype, int size, int rank);
Traffic ReduceScatterTraffic(std::int64_t count, DType dtype, int size, int rank);
Traffic AllGatherTraffic(std::int64_t count, DType dtype, int size, int rank);
// Returns that of a sum which one rank alone gets.
Traffic ReduceTraffic(std::int64_t count, DType dtype, int rank, int root);

}  // namespace frugal
