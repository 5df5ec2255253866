#include "sdk/module/memory_comparison.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sdk/core/byte_size.h"
#include "sdk/core/memory_tag.h"

namespace frugal {
namespace {

// A block is taken, or given back.
struct MemoryEvent {
  std::int64_t when = 0;
  bool takes = true;
  std::size_t block = 0;  // its index in the trace
};

std::vector<MemoryEvent> EventsOf(const MemoryTrace& trace) {
  std::vector<MemoryEvent> events;
  for (std::size_t i = 0; i < trace.lifetimes().size(); ++i) {
    const Lifetime& life = trace.lifetimes()[i];
    events.push_back({life.begin, true, i});
    if (life.end != kStillLive) events.push_back({life.end, false, i});
  }
  std::ranges::sort(events, {}, &MemoryEvent::when);
  return events;
}

const std::string& LabelOf(const TracedMemory& run, std::size_t block) {
  return run.labels.NameOf(run.trace.lifetimes()[block].label);
}

// "asks for block 2 of conv1 (64 bytes of workspace)", by its number among those of its label.
std::string TextOf(const TracedMemory& run, const MemoryEvent* event) {
  if (event == nullptr) return "is done";
  const Lifetime& life = run.trace.lifetimes()[event->block];
  const std::string& label = LabelOf(run, event->block);
  std::size_t number = 1;
  for (std::size_t i = 0; i < event->block; ++i) number += LabelOf(run, i) == label ? 1 : 0;
  return (event->takes ? "asks for block " : "gives back block ") + std::to_string(number) +
         " of " + label + " (" + FormatCount(life.bytes) + " bytes of " +
         std::string(NameOf(life.tag)) + ")";
}

bool AreAlike(const TracedMemory& dry, const TracedMemory& real, const MemoryEvent& planned,
              const MemoryEvent& taken) {
  if (planned.takes != taken.takes || planned.block != taken.block) return false;
  const Lifetime& a = dry.trace.lifetimes()[planned.block];
  const Lifetime& b = real.trace.lifetimes()[taken.block];
  return a.bytes == b.bytes && a.tag == b.tag &&
         LabelOf(dry, planned.block) == LabelOf(real, taken.block);
}

// Returns the name of who asks for what the other run does not.
std::string Culprit(const TracedMemory& dry, const MemoryEvent* planned, const TracedMemory& real,
                    const MemoryEvent* taken) {
  const bool real_asks = taken != nullptr && taken->takes;
  const bool dry_asks = planned != nullptr && planned->takes;
  if (planned == nullptr || (real_asks && !dry_asks)) return LabelOf(real, taken->block);
  return LabelOf(dry, planned->block);
}

}  // namespace

std::optional<Diagnostic> FirstDifference(const TracedMemory& dry, const TracedMemory& real) {
  const std::vector<MemoryEvent> planned = EventsOf(dry.trace);
  const std::vector<MemoryEvent> taken = EventsOf(real.trace);
  for (std::size_t i = 0; i < std::max(planned.size(), taken.size()); ++i) {
    const MemoryEvent* a = i < planned.size() ? &planned[i] : nullptr;
    const MemoryEvent* b = i < taken.size() ? &taken[i] : nullptr;
    if (a != nullptr && b != nullptr && AreAlike(dry, real, *a, *b)) continue;
    return Diagnostic{.where = Culprit(dry, a, real, b),
                      .required = "memory is taken alike when it is planned (dry) and when it runs",
                      .given = "a dry run " + TextOf(dry, a) + ", a real one " + TextOf(real, b),
                      .advice =
                          "let sizes and the order of Allocate and Launch follow from shapes "
                          "alone, never from values"};
  }
  return std::nullopt;
}

}  // namespace frugal
