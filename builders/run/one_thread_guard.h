#pragma once

#include <atomic>
#include <thread>

namespace frugal {

// Remembers which thread uses a model: one at a time. Whatever runs takes a scope before it touches
// anything, and another thread is refused there.
class OneThreadGuard {
 public:
  // The thread that uses the model may take more of them, as an observer of its training does.
  // Ends in the thread that took it.
  class Scope {
   public:
    // Throws UsageError, with `where` in front, while another thread uses the model.
    Scope(OneThreadGuard& use, const char* where);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    OneThreadGuard& use_;
  };

 private:
  std::atomic<std::thread::id> thread_{};  // none: nobody uses it
  int scopes_ = 0;                         // of that thread, which alone touches this
};

}  // namespace frugal
