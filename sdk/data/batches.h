#pragma once

#include <cstdint>

namespace frugal {

// Samples [begin, begin + count) of an epoch's order.
struct BatchRange {
  std::int64_t begin = 0;
  std::int64_t count = 0;

  bool operator==(const BatchRange&) const = default;
};

// Says what becomes of the samples that do not fill a batch at the end of an epoch.
enum class LastBatch : std::uint8_t { kKeepSmaller, kDrop };

// Number of batches of `batch_size` in `samples`. Throws UsageError for a batch size below 1 or a
// negative number of samples.
std::int64_t BatchCount(std::int64_t samples, std::int64_t batch_size, LastBatch last);

// Batch number `index` of them, from 0 on. Throws UsageError when there is no such batch.
BatchRange BatchAt(std::int64_t samples, std::int64_t batch_size, LastBatch last,
                   std::int64_t index);

}  // namespace frugal
