#include "sdk/data/batches.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(std::string required, std::int64_t given) {
  throw UsageError({.where = "batches",
                    .required = std::move(required),
                    .given = std::to_string(given) + " was given",
                    .advice = {}});
}

}  // namespace

std::int64_t BatchCount(std::int64_t samples, std::int64_t batch_size, LastBatch last) {
  if (samples < 0) Refuse("the number of samples is not negative", samples);
  if (batch_size < 1) Refuse("a batch has at least one sample", batch_size);
  const bool smaller = last == LastBatch::kKeepSmaller && samples % batch_size != 0;
  return samples / batch_size + (smaller ? 1 : 0);
}

BatchRange BatchAt(std::int64_t samples, std::int64_t batch_size, LastBatch last,
                   std::int64_t index) {
  const std::int64_t count = BatchCount(samples, batch_size, last);
  if (index < 0 || index >= count) {
    Refuse("a batch has a number from 0 to " + std::to_string(count - 1), index);
  }
  const std::int64_t begin = index * batch_size;
  return {begin, std::min(batch_size, samples - begin)};
}

}  // namespace frugal
