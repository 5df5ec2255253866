#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace frugal {

// Holds what one process tells the others of its machine about itself, in memory that they share.
// All zero is a rank that has not come yet.
struct RankStatus {
  enum State : std::uint32_t { kAbsent, kRunning, kEnded, kFailed };

  alignas(64) std::atomic<std::uint32_t> doorbell;  // counts what came and went
  std::atomic<std::uint32_t> rests;                 // 1 while it sleeps until the doorbell rings
  alignas(64) std::atomic<std::uint64_t> heartbeat;
  std::atomic<std::uint32_t> state;
  std::atomic<std::int32_t> process;
  std::array<char, 160> activity;  // the last that it began
  std::array<char, 1024> failure;  // there with kFailed
};

// Writes as much of a text as there is room for.
template <std::size_t size>
void WriteText(const std::string& text, std::array<char, size>& to) {
  const std::size_t length = text.copy(to.data(), size - 1);
  to[length] = '\0';
}

// Watches whether the processes of a machine go on. A process that is stopped or hangs in the
// system lets its heartbeat stand still.
class RankWatch {
 public:
  // A rank whose heart has not beaten for so long is given up.
  static constexpr std::chrono::seconds kPatience{10};

  // `names` are what errors call the ranks: their numbers among all, of whatever machine.
  RankWatch(RankStatus* ranks, std::vector<int> names);

  // Throws CommunicationError where a rank failed, is gone or stands still, or where `waits_for`
  // has ended; -1 stands for none.
  void Check(int rank, int waits_for, const std::string& activity);

 private:
  using Clock = std::chrono::steady_clock;
  // Time counts only while this process runs too: a machine that sleeps is nobody's fault.
  struct Seen {
    std::uint64_t heartbeat = 0;
    Clock::duration still{};
  };
  std::string NameOf(int rank) const;
  std::string ProblemOf(int other, Clock::duration passed);
  template <class Lost>
  [[noreturn]] void Throw(int rank, const std::string& activity, const std::string& problem) const;

  RankStatus* ranks_;
  std::vector<int> names_;
  std::vector<Seen> seen_;
  Clock::time_point last_;
};

}  // namespace frugal
