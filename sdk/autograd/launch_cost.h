#pragma once

#include <cstdint>

#include "sdk/core/operation_kind.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// A kind that must be named: there is no default for it.
struct LaunchKind {
  constexpr LaunchKind(OperationKind named) : value(named) {}  // NOLINT: reads as the kind itself
  OperationKind value;
};

// Says what one kernel call does and costs, for plans and profiles.
struct LaunchCost {
  LaunchKind kind;
  // The call must at least read and write so many bytes, each tensor once: passes beyond that are
  // its own loss.
  std::int64_t bytes = 0;
  double flops =
      0;  // of products, convolutions and attention; a multiplication with its sum is two
  std::int64_t scratch_bytes = 0;
};

inline std::int64_t BytesOf(const Tensor& tensor) { return tensor ? tensor.bytes() : 0; }
// Returns the bytes of all of them together; those that are absent count nothing. Name a tensor
// twice that is updated in place.
template <class... Others>
std::int64_t BytesOf(const Tensor& first, const Others&... others) {
  return BytesOf(first) + (BytesOf(others) + ... + 0);
}

}  // namespace frugal
