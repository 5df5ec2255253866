#pragma once

#include <functional>
#include <list>
#include <memory>

#include "sdk/plan/plan.h"

namespace frugal {

// Layouts of steps that are not in a training's plan, such as predictions in other batch sizes.
// Each is made when it is first asked for; those that were used last are kept, so many at most.
class StepLayouts {
 public:
  static constexpr std::size_t kMost = 32;

  using Layout = std::shared_ptr<const ArenaLayout>;
  Layout Of(StepKind kind, std::int64_t batch, const std::function<ArenaLayout()>& make);
  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    StepKind kind;
    std::int64_t batch;
    Layout layout;
  };
  std::list<Kept> kept_;  // the last used first
};

}  // namespace frugal
