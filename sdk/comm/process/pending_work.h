#pragma once

namespace frugal {

// An operation that goes on, chunk by chunk, whenever this process waits for something.
class PendingWork {
 public:
  PendingWork() = default;
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;
  virtual ~PendingWork() = default;

  // Does what can be done without waiting. Returns true when nothing is left.
  virtual bool Advance() = 0;
  // Says whether it sends to a rank of the world or receives from it.
  virtual bool Involves(int rank) const = 0;
  // The rank of the world that it waits for.
  virtual int waits_for() const = 0;
};

}  // namespace frugal
