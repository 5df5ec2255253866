#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/capture/verify/error_measure.h"

namespace frugal {

enum class EntryStatus : std::uint8_t {
  kPassed,
  kCannotTell,  // right, but a wrong result would be taken for right too: a gradient of zeros
  kSkipped,     // it cannot be compared here; the reason says why
  kFailed,      // other numbers than they should be
  kError,       // it could not be read or run
  kCrashed,     // its process ended
  kTookLong,
  kTooLarge,  // it does not fit the memory cap
};
std::string_view NameOf(EntryStatus status);     // "passed", "cannot tell", "skipped", ...
EntryStatus StatusNamed(std::string_view name);  // throws std::invalid_argument for another
// Returns true for those that end a verification with an error.
bool IsBad(EntryStatus status);

// Holds what came of one tensor that an entry writes.
struct EntryOutput {
  std::string name;
  ErrorMeasure to_recorded{};        // what ran here, against what was recorded
  ErrorMeasure to_f64{};             // against f64
  ErrorMeasure recorded_to_f64{};    // f32's own error: what was recorded, against f64
  double allowed = 0;                // of the largest difference
  std::vector<std::string> blind{};  // wrong results that the comparison takes for right
};

struct EntryResult {
  std::int64_t entry = 0;
  std::string operation;
  std::string path;
  bool backward = false;
  std::string backend;
  std::string precision;  // "recorded", "f32" or "f64"
  EntryStatus status = EntryStatus::kPassed;
  std::string reason{};  // one sentence where it did not pass
  std::int64_t tensor_bytes = 0;
  std::int64_t slices = 1;
  std::int64_t null_tests = 0;  // wrong results that were tried
  std::vector<EntryOutput> outputs{};
  double seconds = 0;
  std::int64_t peak_rss_bytes = 0;  // of the process that ran it, so far

  double relative() const;  // largest relative error to what was recorded, of all outputs
  std::int64_t ulp() const;
  bool same_bits() const;
};

// Returns one line of JSON without its end, and reads it back. Throws CaptureError.
std::string ToJson(const EntryResult& result);
EntryResult ResultFromJson(const std::string& text, const std::string& where);

}  // namespace frugal
