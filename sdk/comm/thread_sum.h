#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sdk/comm/communicator.h"
#include "sdk/comm/thread_world.h"

namespace frugal {

// A sum over ranks that are threads. Each rank adds up one part of the numbers when it comes by,
// and a rank that waits adds up those that nobody has begun: so it never waits for one that is busy
// elsewhere.
class ThreadSum {
 public:
  // All buffers are like this one.
  ThreadSum(std::shared_ptr<ThreadWorld> world, int size, const CommBuffer& like,
            std::optional<int> root)
      : world_(std::move(world)),
        like_(like),
        root_(root),
        posted_(static_cast<std::size_t>(size)),
        begun_(static_cast<std::size_t>(size)) {}

  // Brings a rank's buffer, under the lock of the world. Throws CommunicationError where it is not
  // like those of the others. Returns true where it was the last one.
  bool Post(int rank, const CommBuffer& buffer, std::optional<int> root,
            const std::string& activity);
  // Adds up the rank's own part, if it can be and is not yet. Returns whether the sum is done.
  bool Progress(int rank);
  void Wait(int rank, int world_rank, const std::string& activity);
  // Returns when nobody reads or writes the rank's buffer any more, nor ever will.
  void Withdraw();

 private:
  bool all_posted() const { return arrived_ == posted_.size(); }
  bool done() const { return finished_ == posted_.size(); }
  // A part that can be added up; `rank` prefers its own.
  std::optional<std::size_t> FreePart(int rank) const;
  void AddUp(ThreadWorld::Lock& lock, std::size_t part);

  std::shared_ptr<ThreadWorld> world_;
  CommBuffer like_;
  std::optional<int> root_;         // null where every rank gets the sums
  std::vector<CommBuffer> posted_;  // by rank
  std::vector<bool> begun_;         // by part
  std::size_t arrived_ = 0, finished_ = 0;
  int working_ = 0;
  bool withdrawn_ = false;
};

// Returns a rank's share in a sum that it has posted its buffer to.
std::unique_ptr<PendingSum> MakePendingSum(std::shared_ptr<ThreadSum> sum, int rank, int world_rank,
                                           std::string activity);

}  // namespace frugal
