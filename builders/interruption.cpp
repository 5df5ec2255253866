#include "builders/interruption.h"

#include <unistd.h>

#include <atomic>

namespace frugal {
namespace {

constexpr int kSignalCodes = 128;

// A handler may touch lock-free atomics alone.
std::atomic<int> noted_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void Note(int signal) {
  int before = 0;
  if (noted_signal.compare_exchange_strong(before, signal)) return;
  if (signal == SIGINT) ::_exit(kSignalCodes + signal);
}

void Handle(int signal, struct sigaction& before) {
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = Note;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptionScope::InterruptionScope() {
  noted_signal = 0;
  Handle(SIGINT, interrupt_);
  Handle(SIGTERM, terminate_);
}

InterruptionScope::~InterruptionScope() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
}

int InterruptionScope::signal() { return noted_signal; }

std::string SignalName(int signal) {
  if (signal == SIGINT) return "SIGINT";
  return signal == SIGTERM ? "SIGTERM" : "signal " + std::to_string(signal);
}

}  // namespace frugal
