#pragma once

#include <csignal>
#include <exception>
#include <string>

namespace frugal {

// Thrown behind what a signal ended, when everything is written: RunProgram then returns
// 128 + signal, as shells have it for programs that end by one.
class Interrupted final : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  int signal() const { return signal_; }
  const char* what() const noexcept override { return "interrupted by a signal"; }

 private:
  int signal_;
};

// While it lives, the first SIGINT or SIGTERM is only noted, for the training to end behind its
// step; another SIGINT ends the process at once, which harms no file. Signals that the process was
// started to ignore stay ignored. One at a time.
class InterruptionScope {
 public:
  InterruptionScope();
  ~InterruptionScope();
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;

  // Returns the signal that came, or 0.
  static int signal();

 private:
  struct sigaction interrupt_ = {}, terminate_ = {};  // what they were handled by
};

std::string SignalName(int signal);  // "SIGINT", "SIGTERM"

}  // namespace frugal
