#include "sdk/backend/onednn/operation/operation_cache.h"

#include <algorithm>

#include "sdk/backend/backend.h"

namespace frugal::onednn {

OperationCache::OperationCache(Factory make, std::size_t capacity)
    : make_(make), capacity_(std::max<std::size_t>(1, capacity)) {}

Operation* OperationCache::Find(const Description& description) {
  OperationKey key{description, ThreadCount()};
  if (const auto found = index_.find(key); found != index_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->operation.get();
  }
  if (entries_.size() == capacity_) {
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({key, make_(description)});
  index_.emplace(std::move(key), entries_.begin());
  return entries_.front().operation.get();
}

}  // namespace frugal::onednn
