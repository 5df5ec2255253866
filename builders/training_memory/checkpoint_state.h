#pragma once

#include <memory>

#include "builders/training_memory/layer_pass.h"

namespace frugal {

class ManagerMemory;

// A forward pass that waits for its backward pass: what TrainingMemoryManager keeps in between. It
// may be dropped unused, and may outlive the manager; the layers must live until backward.
class CheckpointState {
 public:
  CheckpointState() = default;  // of no pass

  // Returns true while a backward pass can still go through it.
  bool is_pending() const { return parts_ != nullptr && !parts_->used; }
  // Gives back what is kept for backward, which can then not follow any more.
  void Drop() { parts_.reset(); }

 private:
  friend class TrainingMemoryManager;
  struct Parts {
    std::shared_ptr<const ManagerMemory> memory;  // of the manager it belongs to
    LayerPass pass;
    bool used = false;
  };
  std::unique_ptr<Parts> parts_;
};

// Holds what a forward pass returns.
struct CheckpointedForward {
  Tensor output;
  CheckpointState state;
};

}  // namespace frugal
