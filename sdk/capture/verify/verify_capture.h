#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/capture/call_selection.h"
#include "sdk/capture/capture_error.h"
#include "sdk/capture/verify/entry_result.h"

namespace frugal {

// Says how a capture is verified.
struct VerifyOptions {
  std::vector<BackendKind> backends = {BackendKind::kOneDnn, BackendKind::kEigen};
  // Floating tensors are of this type: f32 or f64; else of those that were recorded (f32 where a
  // backend does not know bf16).
  std::optional<DType> precision{};
  CallSelection selection{};
  // A process is replaced by a new one before its entries come to more bytes of tensors than this;
  // an entry of more is done by a process alone.
  std::int64_t batch_bytes = std::int64_t{512} << 20;
  // The most that each process may hold in memory at a time, its code and libraries included; 0 for
  // no cap. Entries that do not fit are done some rows at a time, where their operation allows it.
  std::int64_t memory_cap = 0;
  double timeout_seconds = 300;  // of one entry
  int threads = 0;               // 0: as many as were recorded
  bool resume = false;           // leave out what the results' file has already
  std::string results{};         // a file of JSON lines; empty for verify.jsonl in the capture
  // Makes a backend in place of ours, for tests and own backends.
  std::function<std::unique_ptr<Backend>(BackendKind)> make_backend{};
  // Is told each result as it comes.
  std::function<void(const EntryResult&)> on_result{};
};

// Holds what came of a verification.
struct VerifyReport {
  std::vector<EntryResult> results{};  // those of a resumed one's first part included
  std::string policy;                  // in words: batches, cap, threads, time
  bool torn = false;                   // the capture was not ended
  std::int64_t peak_rss_bytes = 0;     // the largest of all processes, this one too

  std::int64_t Count(EntryStatus status) const;
  bool passed() const;  // nothing is bad
};

// Runs each entry of a capture again, one at a time, in a process of its own kind (workers.h), and
// compares (entry_verifier.h). Needs nothing of the training: no network, data or configuration.
// Throws CaptureError where there is no capture, nothing of it is selected, or the cap is below
// what a process takes without any tensors.
VerifyReport VerifyCapture(const std::string& directory, const VerifyOptions& options = {});

// Returns what a process may take for tensors under a cap, when it has begun; 0 without a cap.
std::int64_t TensorBudget(std::int64_t memory_cap);

}  // namespace frugal
