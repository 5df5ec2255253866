// This file holds what several devices took, summed up for all processes.
#include <algorithm>
#include <vector>

#include "builders/execute/sharded_executor.h"

namespace frugal {
namespace {

// The numbers of a measurement in a row, as processes tell them to each other.
std::vector<std::int64_t*> NumbersOf(MemoryMeasurement& measured) {
  std::vector<std::int64_t*> numbers = {&measured.peak_bytes, &measured.arena_bytes,
                                        &measured.peak_rss_bytes, &measured.sent.messages,
                                        &measured.sent.bytes};
  for (const MemoryTag tag : kAllMemoryTags) {
    numbers.push_back(&measured.peak_by_purpose[tag]);
    numbers.push_back(&measured.at_peak[tag]);
  }
  if (measured.paging) {
    for (PagingTraffic* traffic : {&measured.paging->step, &measured.paging->total}) {
      numbers.insert(numbers.end(), {&traffic->in_bytes, &traffic->out_bytes});
    }
  }
  return numbers;
}

void Share(DeviceTeam& team, std::size_t device, MemoryMeasurement& measured) {
  const std::vector<std::int64_t*> numbers = NumbersOf(measured);
  std::vector<std::int64_t> values(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) values[i] = *numbers[i];
  team.Share({.data = values.data(), .count = std::ssize(values), .dtype = DType::kI64}, device,
             "measured memory");
  for (std::size_t i = 0; i < numbers.size(); ++i) *numbers[i] = values[i];
  if (!measured.paging) return;
  team.Share({.data = &measured.paging->waited_seconds, .count = 1, .dtype = DType::kF64}, device,
             "measured memory");
}

void Add(const PagingMeasurement& from, PagingMeasurement& to) {
  to.step += from.step;
  to.total += from.total;
  to.waited_seconds = std::max(to.waited_seconds, from.waited_seconds);
}

}  // namespace

std::int64_t ShardedExecutor::live_bytes() const {
  std::int64_t sum = 0;
  for (const auto& device : devices_) sum += device ? device->live_bytes() : 0;
  return sum;
}

std::int64_t ShardedExecutor::system_allocations() const {
  std::int64_t sum = 0;
  for (const auto& device : devices_) sum += device ? device->system_allocations() : 0;
  return sum;
}

MemoryMeasurement ShardedExecutor::Measured() const {
  MemoryMeasurement sum = First().Measured();
  for (std::int64_t* number : NumbersOf(sum)) *number = 0;
  if (sum.paging) sum.paging->waited_seconds = 0;
  sum.peak_rss_bytes = First().Measured().peak_rss_bytes;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    MemoryMeasurement own = devices_[i] ? devices_[i]->Measured() : MemoryMeasurement();
    if (sum.paging && !own.paging) own.paging.emplace();
    Share(*team_, i, own);
    if (sum.paging) Add(*own.paging, *sum.paging);
    for (const MemoryTag tag : kAllMemoryTags) {
      sum.peak_by_purpose[tag] += own.peak_by_purpose[tag];
      sum.at_peak[tag] += own.at_peak[tag];
    }
    sum.sent += own.sent;
    sum.peak_bytes += own.peak_bytes;
    sum.arena_bytes += own.arena_bytes;
    sum.devices.push_back(own);
  }
  return sum;
}

std::vector<DeviceMemory> ShardedExecutor::DeviceMemories() const {
  std::vector<DeviceMemory> memories;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i] == nullptr) continue;
    memories.push_back(std::move(devices_[i]->DeviceMemories().front()));
    memories.back().device = static_cast<std::int64_t>(i);
  }
  return memories;
}

}  // namespace frugal
