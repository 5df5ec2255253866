#pragma once

#include <map>
#include <string>

#include "sdk/autograd/context.h"

namespace frugal {

// Keys and values of the positions that a causal network has seen, so that generating the next one
// runs it on that position alone. For one sequence.
class KeyValueCache {
 public:
  explicit KeyValueCache(std::int64_t capacity) : capacity_(capacity) {}

  std::int64_t capacity() const { return capacity_; }
  // Positions that are in, before those of the pass that is running.
  std::int64_t length() const { return length_; }
  // Counts `count` positions as in, after a pass over them.
  void Advance(std::int64_t count) { length_ += count; }

  // Puts rows of `source` [1, T, row], columns [offset, offset + width), behind those that are in,
  // and returns all of them, [1, length + T, width]. `name` tells layers, and keys from values,
  // apart. Throws UsageError where the capacity is passed.
  Tensor Append(Context& context, const std::string& name, const Tensor& source,
                std::int64_t offset, std::int64_t width);

 private:
  std::int64_t capacity_;
  std::int64_t length_ = 0;
  std::map<std::string, Tensor> rows_;  // [capacity, width]
};

}  // namespace frugal
