#include "sdk/memory/ledger.h"

#include <algorithm>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

// A process can address so many bytes. Plans of more are refused, and sums of less do not overflow.
constexpr std::int64_t kMostLiveBytes = std::int64_t{1} << 47;

// "parameter 2.0 MB, activation 1.0 MB"
std::string DescribeBytes(const BytesByTag& bytes) {
  std::string text;
  for (const MemoryTag tag : kAllMemoryTags) {
    if (bytes[tag] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(NameOf(tag)) + " " + FormatBytes(bytes[tag]);
  }
  return text;
}

}  // namespace

std::vector<Holder> MemoryLedger::LargestHolders() const { return MergeHolders(Holders()); }

std::vector<Holder> MemoryLedger::Holders() const {
  std::vector<Holder> holders;
  for (const Entry& entry : entries_) {
    if (!entry.inner) continue;
    holders.push_back({labels_.NameOf(entry.label), entry.inner.tag(), entry.inner.bytes()});
  }
  return holders;
}

void MemoryLedger::RecordInto(MemoryTrace* trace) {
  trace_ = trace;
  for (Entry& entry : entries_) entry.trace_index = -1;
}

void MemoryLedger::CheckLimit(std::int64_t bytes, MemoryTag tag) {
  if (bytes > kMostLiveBytes - live_total_) {
    throw MemoryError(
        {.where = "memory",
         .required =
             "no more is live at once than a process can address, " + FormatBytes(kMostLiveBytes),
         .given = labels_.NameOf(label_) + " asks for " + FormatBytes(bytes) + " of " +
                  std::string(NameOf(tag)) + " while " + FormatBytes(live_total_) + " are live",
         .advice = "use smaller layers, samples or batches"});
  }
  if (limit_.bytes == 0) return;
  const std::int64_t wanted = live_total_ + bytes;
  if (limit_.hard && wanted > limit_.bytes) {
    throw MemoryError({.where = limit_.name,
                       .required = "live memory stays within " + FormatBytes(limit_.bytes),
                       .given = labels_.NameOf(label_) + " asks for " + FormatBytes(bytes) +
                                " of " + std::string(NameOf(tag)) + " while " +
                                FormatBytes(live_total_) + " are live (" + DescribeBytes(live_) +
                                "); the largest holders are " +
                                DescribeHolders(LargestHolders(), 3),
                       .advice = "raise the limit, use a smaller batch or gradient checkpointing"});
  }
  const double threshold = limit_.warning_fraction * static_cast<double>(limit_.bytes);
  if (warned_ || !limit_.warn || static_cast<double>(wanted) < threshold) return;
  warned_ = true;
  limit_.warn("memory use passes " + FormatBytes(static_cast<std::int64_t>(threshold)) + " of " +
              FormatBytes(limit_.bytes) + " (" + limit_.name + "); the largest holders are " +
              DescribeHolders(LargestHolders(), 3));
}

std::size_t MemoryLedger::FreeEntry() {
  if (free_entries_.empty()) {
    entries_.emplace_back();
    return entries_.size() - 1;
  }
  const std::size_t at = free_entries_.back();
  free_entries_.pop_back();
  return at;
}

Block MemoryLedger::Take(TrackedAllocator& owner, std::int64_t bytes, MemoryTag tag,
                         const TensorForm* form) {
  CheckLimit(bytes, tag);
  Block inner = owner.upstream_.Allocate(bytes, tag);
  void* data = inner.data();
  const std::size_t at = FreeEntry();
  Entry& entry = entries_[at];
  entry.inner = std::move(inner);
  entry.label = label_;
  entry.trace_index = trace_ ? trace_->Begin(bytes, tag, label_, owner.in_arena_, form) : -1;
  ++allocation_count_;
  largest_allocation_ = std::max(largest_allocation_, bytes);
  live_[tag] += bytes;
  live_total_ += bytes;
  peak_[tag] = std::max(peak_[tag], live_[tag]);
  if (live_total_ > peak_total_) {
    peak_total_ = live_total_;
    at_peak_ = live_;
  }
  return Block(&owner, data, bytes, tag, static_cast<std::int64_t>(at));
}

void MemoryLedger::Give(const Block& block) noexcept {
  const auto at = static_cast<std::size_t>(block.handle());
  Entry& entry = entries_[at];
  if (trace_ && entry.trace_index >= 0) trace_->End(entry.trace_index);
  entry.inner = Block();
  free_entries_.push_back(at);
  live_[block.tag()] -= block.bytes();
  live_total_ -= block.bytes();
}

}  // namespace frugal
