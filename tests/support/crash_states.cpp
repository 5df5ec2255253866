#include "tests/support/crash_states.h"

#include <algorithm>
#include <random>
#include <unordered_set>

#include "tests/io/temp_dir.h"
#include "tests/support/disk_changes.h"

namespace frugal::testing {
namespace {

using Subset = std::vector<bool>;  // of the changes that may be lost: true is there
using Change = DiskChange::Kind;

std::vector<Subset> AllSubsets(std::size_t count) {
  std::vector<Subset> subsets;
  for (std::size_t bits = 0; bits < (std::size_t{1} << count); ++bits) {
    Subset subset(count);
    for (std::size_t i = 0; i < count; ++i) subset[i] = (bits >> i & 1) != 0;
    subsets.push_back(subset);
  }
  return subsets;
}

// Chooses among the subsets of many changes.
class SubsetChoice {
 public:
  SubsetChoice(const std::vector<DiskChange>& pending, const CrashOptions& options)
      : pending_(pending), most_(options.most_states), random_(options.seed) {}

  std::vector<Subset> Choose() {
    AddByKind();
    AddAlone();
    while (subsets_.size() < most_) AddRandom();
    return std::move(subsets_);
  }

 private:
  template <class IsThere>
  void Add(const IsThere& is_there) {
    Subset subset(pending_.size());
    for (std::size_t i = 0; i < subset.size(); ++i) subset[i] = is_there(i);
    subsets_.push_back(std::move(subset));
  }

  void AddByKind() {
    const auto kind = [&](std::size_t i) { return pending_[i].kind; };
    Add([](std::size_t) { return true; });
    Add([](std::size_t) { return false; });
    Add([&](std::size_t i) { return kind(i) == Change::kName; });
    Add([&](std::size_t i) { return kind(i) != Change::kName; });
    Add([&](std::size_t i) { return kind(i) != Change::kBytes; });
    Add([&](std::size_t i) { return kind(i) != Change::kLength; });
  }

  // Takes turns, so that what there is no room for is spread over all changes.
  void AddAlone() {
    std::vector<std::size_t> order(pending_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::shuffle(order, random_);
    for (const std::size_t one : order) {
      if (subsets_.size() + 3 > most_ - most_ / 4) return;
      Add([&](std::size_t i) { return i != one; });
      Add([&](std::size_t i) { return i == one; });
      Add([&](std::size_t i) { return i <= one; });
    }
  }

  // Loses few or many of them, and in every other state whole calls.
  void AddRandom() {
    const std::uint64_t odds = random_() % 15 + 1;  // of 16
    const bool by_call = random_() % 2 == 0;
    bool last = true;
    Add([&](std::size_t i) {
      const bool goes_on = by_call && i > 0 && pending_[i].call == pending_[i - 1].call;
      if (!goes_on) last = random_() % 16 < odds;
      return last;
    });
  }

  const std::vector<DiskChange>& pending_;
  std::size_t most_;
  std::mt19937_64 random_;
  std::vector<Subset> subsets_;
};

std::vector<Subset> SubsetsOf(const std::vector<DiskChange>& pending, const CrashOptions& options) {
  const std::size_t count = pending.size();
  const bool are_few = count < 20 && (std::size_t{1} << count) <= options.most_states;
  return are_few ? AllSubsets(count) : SubsetChoice(pending, options).Choose();
}

class Visitor {
 public:
  Visitor(const Recording& recording, const CrashOptions& options,
          const std::function<void(const CrashState&)>& visit)
      : recording_(recording), options_(options), visit_(visit) {}

  std::size_t VisitAll() {
    for (std::size_t calls = 0; calls <= recording_.calls.size(); ++calls) VisitBehind(calls);
    return count_;
  }

 private:
  void VisitBehind(std::size_t calls) {
    const std::vector<DiskChange> changes = ChangesOf(recording_, calls, options_.block);
    std::vector<DiskChange> pending;
    std::ranges::copy_if(changes, std::back_inserter(pending),
                         [](const DiskChange& change) { return !change.is_durable; });
    for (const Subset& subset : SubsetsOf(pending, options_)) {
      std::vector<DiskChange> there;
      std::string lost;
      std::size_t next = 0;
      for (const DiskChange& change : changes) {
        if (change.is_durable || subset[next++]) {
          there.push_back(change);
        } else if (lost.size() < kMostText) {
          lost += "\n  lost: " + TextOf(recording_, change);
        }
      }
      Visit(calls, DiskWith(recording_, there), lost);
    }
  }

  void Visit(std::size_t calls, const Disk& disk, const std::string& lost) {
    CrashState state = {.directory = {}, .calls = calls, .marks = {}, .text = {}};
    state.text = "behind call " + std::to_string(calls);
    for (std::size_t i = 0; i < calls; ++i) {
      const DiskCall& call = recording_.calls[i];
      if (call.kind == DiskCall::Kind::kMark) state.marks.push_back(call.text);
      if (i + 1 == calls) state.text += ", " + call.text;
    }
    const std::string key = std::to_string(state.marks.size()) + ContentOf(disk);
    if (!seen_.insert(std::hash<std::string>()(key)).second) return;
    const TempDir temporary(MemoryDirectory());
    state.directory = temporary.File("root");
    state.text += lost;
    WriteDisk(disk, state.directory);
    ++count_;
    visit_(state);
  }

  static constexpr std::size_t kMostText = 1000;

  const Recording& recording_;
  const CrashOptions& options_;
  const std::function<void(const CrashState&)>& visit_;
  std::unordered_set<std::size_t> seen_;
  std::size_t count_ = 0;
};

}  // namespace

std::size_t VisitCrashStates(const Recording& recording, const CrashOptions& options,
                             const std::function<void(const CrashState&)>& visit) {
  return Visitor(recording, options, visit).VisitAll();
}

}  // namespace frugal::testing
