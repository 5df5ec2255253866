#include "sdk/capture/verify/entry_verifier.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "sdk/capture/replay.h"
#include "sdk/capture/verify/null_tests.h"
#include "sdk/capture/verify/rounding_floor.h"

namespace frugal {
namespace {

bool IsReal(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
}

bool Has(const CaptureEntry& entry, DType dtype) {
  return std::ranges::any_of(entry.call.buffers,
                             [&](const CallBuffer& buffer) { return buffer.dtype == dtype; });
}

// Runs a copy of a call: what it updates is copied, what it only reads is shared.
std::vector<Tensor> RunFresh(CallDescription call, Backend& backend, Allocator& memory) {
  for (CallBuffer& buffer : call.buffers) {
    if (!buffer.written) continue;
    const Tensor before = buffer.tensor;
    buffer.tensor = Tensor(memory, before.shape(), before.dtype(), MemoryTag::kWorkspace);
    if (before.bytes() == 0) continue;
    std::memcpy(buffer.tensor.raw(), before.raw(), static_cast<std::size_t>(before.bytes()));
  }
  const std::unique_ptr<Call> copy = MakeCall(call);
  RunCall(*copy, backend, memory);
  return WrittenBy(*copy, call, memory);
}

// Returns nothing where the call refuses what it is given.
std::vector<Tensor> RunSwapped(const CallDescription& call, Backend& backend, Allocator& memory) {
  try {
    return RunFresh(call, backend, memory);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::string WhyNotInF64(const CaptureEntry& entry) {
  if (Has(entry, DType::kU8)) return "its state has 8 bits";
  const bool updates = entry.call.kernel == "sgd" || entry.call.kernel == "adam";
  if (updates && Has(entry, DType::kBF16)) return "its state is bf16, rounded at random";
  return "";
}

EntryVerifier::EntryVerifier(CaptureReader& reader, Backend& backend,
                             std::optional<DType> precision, std::int64_t budget)
    : reader_(reader), backend_(backend), precision_(precision), budget_(budget), memory_(budget) {}

EntryResult EntryVerifier::Verify(const CaptureEntry& entry) {
  const auto begin = std::chrono::steady_clock::now();
  EntryResult result{.entry = entry.number,
                     .operation = entry.call.kernel,
                     .path = entry.place.path,
                     .backward = entry.place.backward,
                     .backend = std::string(backend_.name()),
                     .precision = precision_ ? std::string(NameOf(*precision_)) : "recorded",
                     .tensor_bytes = entry.call.TensorBytes()};
  const std::string not_in_f64 = WhyNotInF64(entry);
  if (!not_in_f64.empty() && (backend_.name() != reader_.header().backend || precision_)) {
    result.status = EntryStatus::kSkipped;
    result.reason = not_in_f64 + ", so it is compared bit by bit, with " +
                    reader_.header().backend + " as recorded alone";
    return result;
  }
  try {
    const EntrySlices slices(entry);
    std::vector<OutputTrial> trials;
    if (!VerifySlices(entry, slices, trials, result)) {
      result.status = EntryStatus::kTooLarge;
      const std::int64_t least = slices.NeededBytes(slices.rows() > 0 ? 1 : 0);
      result.reason = "it takes " + FormatBytes(least) +
                      " of tensors at a time and what its kernel needs beside them, and " +
                      FormatBytes(budget_) + " are left under the cap; raise --memory-cap";
      return result;
    }
    Judge(entry, trials, result);
  } catch (const std::exception& error) {
    result.status = EntryStatus::kError;
    result.reason = error.what();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  result.seconds = seconds.count();
  result.peak_rss_bytes = PeakResidentBytes();
  return result;
}

// Kernels have memory of their own, which is known when they run: where tensors leave it no room,
// fewer rows are taken at a time.
bool EntryVerifier::VerifySlices(const CaptureEntry& entry, const EntrySlices& slices,
                                 std::vector<OutputTrial>& trials, EntryResult& result) {
  const auto run = [&](const std::vector<EntrySlice>& cut) {
    result.slices = std::ssize(cut);
    trials = TrialsOf(entry);
    for (const EntrySlice& slice : cut) VerifySlice(entry, slices, slice, trials);
  };
  if (budget_ == 0) {
    run({EntrySlice{}});
    return true;
  }
  for (std::int64_t budget = budget_; budget > 0; budget /= 2) {
    const std::vector<EntrySlice> cut = slices.Within(budget);
    if (cut.empty()) return false;
    try {
      run(cut);
      return true;
    } catch (const MemoryError&) {
    }
  }
  return false;
}

DType EntryVerifier::TypeToRun(const CaptureEntry& entry) const {
  if (precision_) return *precision_;
  return Has(entry, DType::kF64) && !Has(entry, DType::kF32) ? DType::kF64 : DType::kF32;
}

std::vector<Tensor> EntryVerifier::RunF64(const CaptureEntry& entry, const EntrySlices& slices,
                                          const EntrySlice& slice) {
  const CallDescription wide = LoadEntry(reader_, entry, slices, slice, DType::kF64, memory_);
  const std::unique_ptr<Call> call = MakeCall(wide);
  RunCall(*call, *reference_, memory_);
  return WrittenBy(*call, wide, memory_);
}

std::vector<OutputTrial> EntryVerifier::TrialsOf(const CaptureEntry& entry) const {
  std::vector<OutputTrial> trials;
  for (const CallBuffer& buffer : entry.call.buffers) {
    if (!buffer.written) continue;
    OutputTrial& trial = trials.emplace_back();
    trial.result.name = buffer.name;
    trial.has_f64 = WhyNotInF64(entry).empty();
    // Numbers that are returned are f64, and no more exact than what they are made of.
    trial.dtype = buffer.dtype;
    if (IsReal(buffer.dtype) && Has(entry, DType::kBF16)) {
      trial.dtype = DType::kBF16;
    } else if (buffer.dtype == DType::kF64 && Has(entry, DType::kF32)) {
      trial.dtype = DType::kF32;
    }
    if (trial.dtype == DType::kF64 && precision_ == DType::kF32) {
      trial.dtype = DType::kF32;
      trial.rounds_inputs = true;
    }
  }
  return trials;
}

void EntryVerifier::VerifySlice(const CaptureEntry& entry, const EntrySlices& slices,
                                const EntrySlice& slice, std::vector<OutputTrial>& trials) {
  const bool in_f64 = WhyNotInF64(entry).empty();
  const bool as_recorded =
      !precision_ && (!Has(entry, DType::kBF16) || backend_.Supports(DType::kBF16));
  const std::optional<DType> type = as_recorded ? std::nullopt : std::optional(TypeToRun(entry));
  const std::vector<Tensor> wide = in_f64 ? RunF64(entry, slices, slice) : std::vector<Tensor>();
  const std::vector<Tensor> recorded = RecordedOutputs(reader_, entry, slices, slice, memory_);
  const CallDescription call = LoadEntry(reader_, entry, slices, slice, type, memory_);
  const std::unique_ptr<Call> like = MakeCall(call);
  const double terms = LargestTerms(call, like->Flops());
  const double at_cut = ShareAtCut(call);
  const auto add = [&](std::size_t i, const Tensor& got, ErrorMeasure& to_recorded,
                       ErrorMeasure& to_f64) {
    Measure(got, recorded[i], to_recorded);
    if (in_f64) Measure(got, wide[i], to_f64);
  };
  {
    const std::vector<Tensor> got = RunFresh(call, backend_, memory_);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      EntryOutput& result = trials[i].result;
      add(i, got[i], result.to_recorded, result.to_f64);
      if (in_f64) Measure(recorded[i], wide[i], result.recorded_to_f64);
    }
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].terms = std::max(trials[i].terms, terms);
    trials[i].at_cut = std::max(trials[i].at_cut, at_cut);
    for (const NullCandidate& null : NullCandidates(call, like->excuses(), recorded[i])) {
      OutputTrial::Null& sum = OutputTrial::NullIn(trials[i].nulls, null.name);
      add(i, null.make(memory_), sum.to_recorded, sum.to_f64);
    }
  }
  for (const SwappedCall& swapped : SwappedCalls(call, like->excuses())) {
    const std::vector<Tensor> wrong = RunSwapped(swapped.call, backend_, memory_);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      OutputTrial::Null& sum = OutputTrial::NullIn(trials[i].swaps, swapped.name);
      if (wrong.empty()) {
        sum.to_recorded.not_finite = 1;  // the kernel refused it
      } else {
        add(i, wrong[i], sum.to_recorded, sum.to_f64);
      }
    }
  }
}

void EntryVerifier::Judge(const CaptureEntry& entry, std::vector<OutputTrial>& trials,
                          EntryResult& result) {
  for (OutputTrial& trial : trials) {
    trial.Judge(entry.call.kernel);
    for (const OutputTrial::Null& null : trial.nulls) {
      ++result.null_tests;
      if (!trial.Refuses(null)) trial.result.blind.push_back(null.name);
    }
  }
  // Inputs that changed places are told by any of the outputs.
  for (std::size_t i = 0; !trials.empty() && i < trials.front().swaps.size(); ++i) {
    ++result.null_tests;
    const auto tells = [&](const OutputTrial& trial) { return trial.Refuses(trial.swaps[i]); };
    if (std::ranges::any_of(trials, tells)) continue;
    trials.front().result.blind.push_back(trials.front().swaps[i].name);
  }
  for (OutputTrial& trial : trials) {
    std::string why = trial.WhyRecordedRefused(entry.call.kernel);
    if (why.empty()) why = trial.WhyRefused(trial.result.to_recorded, trial.result.to_f64);
    if (!why.empty() && result.status != EntryStatus::kFailed) {
      result.status = EntryStatus::kFailed;
      result.reason = why;
    } else if (!trial.result.blind.empty() && result.status == EntryStatus::kPassed) {
      result.status = EntryStatus::kCannotTell;
      result.reason =
          "'" + trial.result.name + "' cannot be told from " + trial.result.blind.front();
    }
    result.outputs.push_back(std::move(trial.result));
  }
}

}  // namespace frugal
