#pragma once

#include <vector>

#include "sdk/capture/profile/entry_times.h"
#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/verify/limited_memory.h"

namespace frugal {

// How long an entry is timed.
struct TimingOptions {
  double seconds = 0.2;          // at most, for the samples with warm caches
  double error_of_mean = 0.005;  // no more samples are taken below it
};

// So many bytes are written in between, so that caches hold nothing of an entry.
inline constexpr std::int64_t kCacheFillBytes = std::int64_t{64} << 20;

// Times entries of a capture, one after another, each in the same way whatever came before it: the
// tensors are copied into fresh memory, the call runs some times unmeasured, then again and again;
// what it updates is put back before each time, unmeasured. Then as often with caches that hold
// something else.
class EntryTimer {
 public:
  // `budget`: bytes of tensors; 0 for no limit.
  EntryTimer(CaptureReader& reader, Backend& backend, const TimingOptions& options,
             std::int64_t budget);

  // Throws what reading the entry and running it throw.
  void Time(const CaptureEntry& entry, EntryTime& time);

 private:
  double RunOnce(Call& call, void* scratch, const CallDescription& state);
  void FillCaches();

  CaptureReader& reader_;
  Backend& backend_;
  TimingOptions options_;
  LimitedMemory memory_;
  std::vector<float> other_data_;
};

// The bytes that a call reads and writes; of a table that rows are gathered from, those rows.
double TrafficOf(const CallDescription& call);
// "x [4, 64, 32], weight [96, 32]": the tensors of most elements.
std::string ShapesText(const CallDescription& call);

}  // namespace frugal
