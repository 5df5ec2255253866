#include "sdk/capture/profile/entry_timer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "sdk/capture/replay.h"
#include "sdk/capture/verify/entry_slices.h"
#include "sdk/core/seconds_since.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOtherData = kCacheFillBytes / sizeof(float);
constexpr std::size_t kLeastSamples = 20, kMostColdSamples = 9;
constexpr double kPatience = 8;  // times the seconds asked for, until there are enough samples
constexpr int kWarmUps = 3;

}  // namespace

EntryTimer::EntryTimer(CaptureReader& reader, Backend& backend, const TimingOptions& options,
                       std::int64_t budget)
    : reader_(reader), backend_(backend), options_(options), memory_(budget) {}

void EntryTimer::FillCaches() {
  if (other_data_.empty()) other_data_.assign(kOtherData, 1.F);
  ParallelFor(std::ssize(other_data_), 1 << 18, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); std::cmp_less(i, end); ++i) {
      other_data_[i] += 1.F;
    }
  });
}

double EntryTimer::RunOnce(Call& call, void* scratch, const CallDescription& state) {
  for (const CallBuffer& buffer : Describe(call).buffers) {
    const CallBuffer* before = state.BufferOf(buffer.name);
    if (before == nullptr || !before->read || !before->written || before->bytes() == 0) continue;
    std::memcpy(buffer.tensor.raw(), before->tensor.raw(),
                static_cast<std::size_t>(before->bytes()));
  }
  const Clock::time_point begin = Clock::now();
  call.Run(backend_, scratch);
  return SecondsSince(begin);
}

void EntryTimer::Time(const CaptureEntry& entry, EntryTime& time) {
  const EntrySlices slices(entry);
  const bool runs_bf16 = backend_.Supports(DType::kBF16);
  const bool has_bf16 = std::ranges::any_of(
      entry.call.buffers, [](const CallBuffer& b) { return b.dtype == DType::kBF16; });
  const std::optional<DType> type =
      has_bf16 && !runs_bf16 ? std::optional(DType::kF32) : std::nullopt;
  const CallDescription state = LoadEntry(reader_, entry, slices, {}, type, memory_);
  const std::unique_ptr<Call> call = MakeCall(Copied(state, std::nullopt, memory_));
  call->Prepare(backend_, memory_);
  const Block scratch = memory_.Allocate(call->Scratch(backend_), MemoryTag::kWorkspace);
  time.flops = call->Flops();
  time.bytes = TrafficOf(state);
  for (int i = 0; i < kWarmUps; ++i) RunOnce(*call, scratch.data(), state);

  std::vector<double> samples;
  const Clock::time_point begin = Clock::now();
  do {
    samples.push_back(RunOnce(*call, scratch.data(), state));
    if (samples.size() < kLeastSamples || samples.size() % 10 != 0) continue;
    if (StatisticsOf(samples).error < options_.error_of_mean) break;
  } while (SecondsSince(begin) <
           options_.seconds * (samples.size() < kLeastSamples ? kPatience : 1));
  time.warm = StatisticsOf(std::move(samples));

  std::vector<double> cold;
  const Clock::time_point cold_begin = Clock::now();
  do {
    FillCaches();
    cold.push_back(RunOnce(*call, scratch.data(), state));
  } while (cold.size() < kMostColdSamples && SecondsSince(cold_begin) < options_.seconds);
  time.cold = StatisticsOf(std::move(cold));
}

double TrafficOf(const CallDescription& call) {
  double bytes = 0;
  for (const CallBuffer& buffer : call.buffers) {
    const bool is_table = call.kernel == "gather" && buffer.name == "table" && buffer.tensor;
    const std::int64_t once = is_table ? buffer.tensor.bytes() : buffer.bytes();
    bytes += static_cast<double>(once) *
             (static_cast<int>(buffer.read) + static_cast<int>(buffer.written));
  }
  return bytes;
}

std::string ShapesText(const CallDescription& call) {
  std::vector<const CallBuffer*> buffers;
  for (const CallBuffer& buffer : call.buffers) buffers.push_back(&buffer);
  std::ranges::stable_sort(buffers, std::greater(), &CallBuffer::bytes);
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(buffers.size(), 2); ++i) {
    text += (i > 0 ? ", " : "") + buffers[i]->name + " " + ToString(buffers[i]->shape);
  }
  return text;
}

}  // namespace frugal
