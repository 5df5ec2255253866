#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/verify/entry_result.h"
#include "sdk/capture/verify/entry_slices.h"
#include "sdk/capture/verify/limited_memory.h"
#include "sdk/capture/verify/output_trial.h"

namespace frugal {

// Runs entries of a capture again and compares what comes out:
// - with what was recorded, and with the same call in f64 on the reference backend. What is allowed
//   is some times the error that the recorded result itself has against f64, at least a few steps
//   of the type, of the largest number of the result; where a sum cancels, a step of its largest
//   terms.
// - NaN and infinite numbers must stand where they stood.
// - Wrong results must fail the same comparison: zeros, a copy of an input, inputs that changed
//   places, the right values in another order. Those that pass are told as `blind`.
// State in fewer bytes than f32 is rounded at random, so it is compared bit by bit with what the
// same backend recorded, and is skipped on another one.
class EntryVerifier {
 public:
  // `budget`: bytes of tensors at a time; 0 for no limit.
  EntryVerifier(CaptureReader& reader, Backend& backend, std::optional<DType> precision,
                std::int64_t budget);

  // Throws nothing: errors are the entry's result.
  EntryResult Verify(const CaptureEntry& entry);

 private:
  std::vector<OutputTrial> TrialsOf(const CaptureEntry& entry) const;
  // Verifies all of the entry within the budget; false where it does not fit.
  bool VerifySlices(const CaptureEntry& entry, const EntrySlices& slices,
                    std::vector<OutputTrial>& trials, EntryResult& result);
  void VerifySlice(const CaptureEntry& entry, const EntrySlices& slices, const EntrySlice& slice,
                   std::vector<OutputTrial>& trials);
  static void Judge(const CaptureEntry& entry, std::vector<OutputTrial>& trials,
                    EntryResult& result);
  std::vector<Tensor> RunF64(const CaptureEntry& entry, const EntrySlices& slices,
                             const EntrySlice& slice);
  DType TypeToRun(const CaptureEntry& entry) const;

  CaptureReader& reader_;
  Backend& backend_;
  std::optional<DType> precision_;
  std::int64_t budget_;
  LimitedMemory memory_;
  std::unique_ptr<Backend> reference_ = MakeEigenBackend();
};

// Returns why an entry cannot be held against f64; empty where it can.
std::string WhyNotInF64(const CaptureEntry& entry);

}  // namespace frugal
