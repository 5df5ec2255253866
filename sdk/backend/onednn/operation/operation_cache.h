#pragma once

#include <list>
#include <memory>
#include <unordered_map>

#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/backend/onednn/operation/operation_key.h"

namespace frugal::onednn {

// The operations made so far, at most `capacity` of them: the one not used for longest makes room.
// Operations depend on the number of threads, which therefore belongs to the key.
class OperationCache {
 public:
  static constexpr std::size_t kDefaultCapacity = 1024;

  // Makes what a description asks for; nullptr where there is no (fast) implementation.
  using Factory = std::unique_ptr<Operation> (*)(const Description&);

  explicit OperationCache(Factory make, std::size_t capacity = kDefaultCapacity);

  // nullptr where oneDNN has no (fast) implementation, which depends on the description alone.
  // Valid until the next call.
  Operation* Find(const Description& description);

  std::size_t size() const { return entries_.size(); }
  std::size_t capacity() const { return capacity_; }

 private:
  struct Entry {
    OperationKey key;
    std::unique_ptr<Operation> operation;
  };

  Factory make_;
  std::size_t capacity_;
  std::list<Entry> entries_;  // latest use first
  std::unordered_map<OperationKey, std::list<Entry>::iterator, OperationKeyHash> index_;
};

}  // namespace frugal::onednn
