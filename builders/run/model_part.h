#pragma once

#include <memory>
#include <utility>

namespace frugal {

// Throws UsageError: the model was moved into another.
[[noreturn]] void RefuseMovedModel();

// Holds what a model consists of. A model that was moved from has it no more, and says so when
// used.
template <class T>
class ModelPart {
 public:
  explicit ModelPart(std::unique_ptr<T> part) : part_(std::move(part)) {}

  T* operator->() const { return &**this; }
  T& operator*() const {
    if (part_ == nullptr) RefuseMovedModel();
    return *part_;
  }

 private:
  std::unique_ptr<T> part_;
};

}  // namespace frugal
