#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace frugal {

// One piece of work for a process, known by its number, and the bytes of tensors that it brings.
struct WorkItem {
  std::int64_t number = 0;
  std::int64_t bytes = 0;
};

struct WorkerOptions {
  // A process is replaced by a new one before its items come to more than this; an item of more is
  // done by a process alone.
  std::int64_t batch_bytes = std::int64_t{512} << 20;
  double timeout_seconds = 60;  // of one item
  int threads = 0;              // of kernels; 0: as many as a process has at its beginning
};

// Says how an item ended: with a line, or with why there is none.
struct WorkOutcome {
  enum class Kind : std::uint8_t { kLine, kCrashed, kTookLong };
  Kind kind = Kind::kLine;
  std::string text;  // the line, or "signal 11 (Segmentation fault)", "60 s"
};

// The work of a process: it is made in there, and called for one item after another. It returns one
// line and throws nothing.
using Work = std::function<std::string(std::int64_t number)>;
using MakeWork = std::function<Work()>;
using TakeOutcome = std::function<void(std::int64_t number, const WorkOutcome& outcome)>;

// Cuts items into batches, in their order.
std::vector<std::vector<WorkItem>> BatchesOf(const std::vector<WorkItem>& items,
                                             std::int64_t batch_bytes);

// Does all items in processes that are forked from this one, one at a time, and hands back what
// came of each, in order. An item that ends its process or takes too long is told so, and the next
// process goes on behind it. Kernels run there on threads of their own, so this process may have
// used some; it must hold no locks that they need. Throws UsageError where no process can be made.
void RunInWorkers(const std::vector<WorkItem>& items, const WorkerOptions& options,
                  const MakeWork& make, const TakeOutcome& take);

}  // namespace frugal
