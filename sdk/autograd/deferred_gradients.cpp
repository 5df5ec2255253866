#include <utility>

#include "sdk/autograd/context.h"

namespace frugal {

void Context::RunDeferred(Deferred what, std::function<void(Context&)> backward) {
  DeferredGradients* queue = deferred_[static_cast<std::size_t>(what)];
  if (queue == nullptr) return backward(*this);
  queue->waiting_.push_back({ledger().label(), std::move(backward)});
}

void DeferredGradients::Run(Context& context) {
  for (Waiting& waiting : waiting_) {
    const LabelScope label(context, waiting.label);
    {
      const BackwardScope backward(context, true);
      std::exchange(waiting.backward, {})(context);
    }
    context.AfterBackwardOfOperation();
  }
  waiting_.clear();
}

}  // namespace frugal
