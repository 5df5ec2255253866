#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frugal {

// Says which values of what is monitored are better.
enum class MonitorMode : std::uint8_t { kMin, kMax };
std::string_view NameOf(MonitorMode mode);  // "min", "max"

// Says what becomes of a snapshot that is due while the one before is still being written.
enum class BusyPolicy : std::uint8_t { kWait, kSkip };
std::string_view NameOf(BusyPolicy policy);  // "wait", "skip"

// Snapshots of a training, from which it goes on bit for bit where it was interrupted: [snapshots].
struct SnapshotOptions {
  std::optional<std::string> directory{};  // where they are kept; none: none are saved
  // When they are saved; without both, behind each epoch.
  std::optional<std::int64_t> every_n_steps{};
  std::optional<double> every_minutes{};
  std::int64_t keep_last = 2;
  std::int64_t keep_best = 0;         // beside the last ones; the best evaluations are saved too
  std::string monitor = "loss";       // what tells the best: loss, accuracy or a metric
  std::optional<MonitorMode> mode{};  // none: as the monitor has it
  // Saves one behind the last step too, where a signal ends the training, and where a step fails.
  bool on_exit = true;
  // Written by a thread of its own from the state itself, while training goes on: a step that is
  // about to change what is not written yet copies it to memory that is planned for it. Else
  // training waits.
  bool background = true;
  BusyPolicy when_busy = BusyPolicy::kWait;

  bool stages() const { return directory.has_value() && background; }
};

}  // namespace frugal
