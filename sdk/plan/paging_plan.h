#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sdk/memory/trace.h"

namespace frugal {

// Says what of a training lies in a page file while nothing uses it.
struct PagingPlan {
  std::string file;
  std::int64_t file_bytes = 0;
  std::int64_t buffer_bytes = 0;  // of memory through which it goes
  std::vector<Holder> tensors;    // by parameter and purpose, largest first
  // Layers keep these of a part of a batch for its backward pass, largest first.
  std::vector<Holder> activations;
};

// Sums up the tensors and activations.
inline std::int64_t PagedBytesOf(const PagingPlan& paging) {
  std::int64_t bytes = 0;
  for (const auto* holders : {&paging.tensors, &paging.activations}) {
    for (const Holder& holder : *holders) bytes += holder.bytes;
  }
  return bytes;
}

}  // namespace frugal
