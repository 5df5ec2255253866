#include "sdk/comm/ordered_sum.h"

#include <algorithm>
#include <cassert>

#include "sdk/core/bfloat16.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

// So many sums stay in the first cache from the first source to the last target.
constexpr std::int64_t kBlock = 2048;
constexpr std::int64_t kBlocksOfTask = 16;

template <class Sum, class T>
void SumBlock(std::span<const void* const> sources, std::span<void* const> targets,
              std::int64_t begin, std::int64_t count) {
  Sum sums[kBlock];
  const T* first = static_cast<const T*>(sources.front()) + begin;
  if (sources.size() == 1) {
    for (std::int64_t i = 0; i < count; ++i) sums[i] = static_cast<Sum>(first[i]);
  } else {
    const T* second = static_cast<const T*>(sources[1]) + begin;
    for (std::int64_t i = 0; i < count; ++i) {
      sums[i] = static_cast<Sum>(first[i]) + static_cast<Sum>(second[i]);
    }
  }
  for (const void* source : sources.subspan(std::min<std::size_t>(2, sources.size()))) {
    const T* values = static_cast<const T*>(source) + begin;
    for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<Sum>(values[i]);
  }
  for (void* target : targets) {
    T* values = static_cast<T*>(target) + begin;
    for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(sums[i]);
  }
}

template <class Sum, class T>
void SumAll(std::span<const void* const> sources, std::span<void* const> targets,
            std::int64_t begin, std::int64_t count) {
  ParallelFor(count, kBlock * kBlocksOfTask, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t at = from; at < to; at += kBlock) {
      SumBlock<Sum, T>(sources, targets, begin + at, std::min(kBlock, to - at));
    }
  });
}

}  // namespace

void SumInOrder(std::span<const void* const> sources, std::span<void* const> targets,
                std::int64_t begin, std::int64_t count, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return SumAll<float, float>(sources, targets, begin, count);
    case DType::kF64:
      return SumAll<double, double>(sources, targets, begin, count);
    case DType::kBF16:
      return SumAll<float, BFloat16>(sources, targets, begin, count);
    case DType::kI64:
    case DType::kI32:
    case DType::kU8:
      break;
  }
  assert(false);  // Communicator asked before
}

}  // namespace frugal
