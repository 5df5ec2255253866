#pragma once

#include <string>
#include <vector>

#include "sdk/backend/machine/machine_limits.h"
#include "sdk/capture/verify/entry_result.h"

namespace frugal {

// Times of one piece of work, in seconds.
struct SampleStatistics {
  std::int64_t count = 0;
  double mean = 0;
  double median = 0;
  double lower_quartile = 0, upper_quartile = 0;
  double error = 0;  // of the mean, relative: standard deviation / sqrt(count) / mean

  double Spread() const {  // the interquartile range, relative to the median
    return median > 0 ? (upper_quartile - lower_quartile) / median : 0;
  }
};
// Takes any number of samples, in any order; of none, all is 0.
SampleStatistics StatisticsOf(std::vector<double> samples);

// Names what an entry's time is bound by.
enum class TimeBound : std::uint8_t {
  kProducts,  // it is nearest to the machine's best product
  kMemory,    // it is nearest to its best copy
  kCaches,    // it moves more than that: its data lie in the caches
  kOverhead,  // it is far from both: so small that starting it takes most of its time
};
std::string_view NameOf(TimeBound bound);  // "products", "memory", "caches", "overhead"

// How long an entry takes, and how good that is on this machine.
struct EntryTime {
  std::int64_t entry = 0;
  std::string operation;
  std::string path;
  bool backward = false;
  std::string shapes;  // of its largest tensors, for people
  std::string backend;
  std::int64_t like_it = 1;  // entries of the same operation, shapes and attributes, this one too
  EntryStatus status = EntryStatus::kPassed;  // of a verification behind the last sample
  std::string reason{};
  SampleStatistics warm{}, cold{};  // with its data in the caches, and with nothing in them
  double flops = 0;
  double bytes = 0;                          // read and written
  double product_limit = 0, copy_limit = 0;  // of the machine, per second
  // Against an earlier profile: warm median / that of before; 0 where there is none.
  double before_ratio = 0;
  double noise = 0;  // a ratio within 1 +- noise says nothing

  double FlopsPerSecond() const { return warm.median > 0 ? flops / warm.median : 0; }
  double BytesPerSecond() const { return warm.median > 0 ? bytes / warm.median : 0; }
  double ProductShare() const { return product_limit > 0 ? FlopsPerSecond() / product_limit : 0; }
  double CopyShare() const { return copy_limit > 0 ? BytesPerSecond() / copy_limit : 0; }
  TimeBound bound() const;
  double TotalSeconds() const { return warm.median * static_cast<double>(like_it); }
  bool IsSlower() const { return before_ratio > 1 + noise; }
  bool IsFaster() const { return before_ratio > 0 && before_ratio < 1 - noise; }
};

std::string ToJson(const EntryTime& time);
// Throws CaptureError.
EntryTime TimeFromJson(const std::string& text, const std::string& where);

// A whole profile as JSON and as CSV with a head line, and what JSON says read back. Throws
// CaptureError for a text of another form.
std::string ProfileJson(const std::vector<EntryTime>& times, const std::string& policy);
std::string ProfileCsv(const std::vector<EntryTime>& times);
std::vector<EntryTime> ProfileFromJson(const std::string& text, const std::string& where);

// Notes in each time what an earlier profile says of the same entry on the same backend. The noise
// is the largest of 3%, three times both errors of the mean, and half of both spreads, and in
// addition what the machine's limits moved by.
void CompareWith(const std::vector<EntryTime>& before, std::vector<EntryTime>& times);

}  // namespace frugal
