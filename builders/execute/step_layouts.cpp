#include "builders/execute/step_layouts.h"

#include <algorithm>

namespace frugal {

StepLayouts::Layout StepLayouts::Of(StepKind kind, std::int64_t batch,
                                    const std::function<ArenaLayout()>& make) {
  const auto found = std::ranges::find_if(
      kept_, [&](const Kept& one) { return one.kind == kind && one.batch == batch; });
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
  } else {
    kept_.push_front({kind, batch, std::make_shared<const ArenaLayout>(make())});
    if (kept_.size() > kMost) kept_.pop_back();
  }
  return kept_.front().layout;
}

}  // namespace frugal
