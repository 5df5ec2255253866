#include "sdk/autograd/waiting_launches.h"

#include <algorithm>
#include <utility>

namespace frugal {

void WaitingLaunches::RunFor(const Tensor& value) {
  const auto last = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Waiting& one) {
    return one.result.SharesStorageWith(value);
  });
  RunFirst(static_cast<std::size_t>(waiting_.rend() - last));
}

void WaitingLaunches::RunUpTo(OperationKind kind) {
  const auto last = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                 [&](const Waiting& one) { return one.kind == kind; });
  RunFirst(static_cast<std::size_t>(waiting_.rend() - last));
}

// A launch runs all that wait, so none does in the meantime. Each is freed as soon as it has run.
void WaitingLaunches::RunFirst(std::size_t count) {
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (std::size_t i = 0; i < count; ++i) {
    const Waiting one = std::move(waiting[i]);
    one.run();
  }
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
  waiting_ = std::move(waiting);
}

}  // namespace frugal
