#include <utility>

#include "sdk/autograd/context.h"

namespace frugal {

void Context::RunDeferred(std::function<void(Context&)> backward) {
  if (deferred_ == nullptr) return backward(*this);
  deferred_->waiting_.push_back({ledger().label(), std::move(backward)});
}

DeferredGradients::DeferredGradients(Context& context, bool active) : context_(context) {
  if (active) context.deferred_ = this;
}

DeferredGradients::~DeferredGradients() { context_.deferred_ = nullptr; }

void DeferredGradients::Run() {
  for (Waiting& waiting : waiting_) {
    const LabelScope label(context_, waiting.label);
    {
      const BackwardScope backward(context_, true);
      std::exchange(waiting.backward, {})(context_);
    }
    context_.AfterBackwardOfOperation();
  }
  waiting_.clear();
}

}  // namespace frugal
