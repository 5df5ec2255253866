#include "builders/run/one_thread_guard.h"

#include "sdk/core/error.h"

namespace frugal {

OneThreadGuard::Scope::Scope(OneThreadGuard& use, const char* where) : use_(use) {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id user;
  if (use.thread_.compare_exchange_strong(user, self, std::memory_order_acquire) || user == self) {
    ++use.scopes_;
    return;
  }
  throw UsageError({.where = where,
                    .required = "one thread uses a model at a time",
                    .given = "another one is using it",
                    .advice =
                        "let threads that predict share a Predictor, give each a model of its "
                        "own, by Model::Clone, or let them take turns"});
}

OneThreadGuard::Scope::~Scope() {
  if (--use_.scopes_ == 0) use_.thread_.store({}, std::memory_order_release);
}

}  // namespace frugal
