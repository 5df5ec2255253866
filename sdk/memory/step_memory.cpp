#include "sdk/memory/step_memory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace frugal {
namespace {

NamedOperation NameOf(const TracedOperation& operation, const LabelTable& labels) {
  return {.layer = labels.NameOf(operation.label),
          .kind = operation.kind,
          .backward = operation.backward,
          .recomputed = operation.recomputed};
}

// Looks operations of a trace up by its events.
class OperationIndex {
 public:
  OperationIndex(const MemoryTrace& trace, const LabelTable& labels)
      : operations_(trace.operations()), labels_(labels) {}

  // The first that ran with a block: its own layer's, if one comes before any other layer's kernel.
  // Scratch memory is taken within the call that it is for.
  std::optional<NamedOperation> MakerOf(const Lifetime& life) const {
    const bool within = life.tag == MemoryTag::kWorkspace;
    auto at = FirstBehind(life.begin);
    if (within && at != operations_.begin()) return NameOf(*std::prev(at), labels_);
    return at == operations_.end() ? std::nullopt : std::optional(NameOf(*at, labels_));
  }
  // The last that ran while it was live.
  std::optional<NamedOperation> LastUserOf(const Lifetime& life) const {
    if (life.end == kStillLive) return std::nullopt;
    const auto at = FirstBehind(life.end);
    return at == operations_.begin() ? std::nullopt
                                     : std::optional(NameOf(*std::prev(at), labels_));
  }

 private:
  // The first operation before which more than `event` events happened.
  std::vector<TracedOperation>::const_iterator FirstBehind(std::int64_t event) const {
    return std::ranges::upper_bound(operations_, event, {}, &TracedOperation::event);
  }

  const std::vector<TracedOperation>& operations_;
  const LabelTable& labels_;
};

std::optional<TensorForm> FormOf(const MemoryTrace& trace, const Lifetime& life) {
  const TensorForm* form = trace.FormOf(life);
  return form == nullptr ? std::nullopt : std::optional(*form);
}

std::vector<HeldBlock> BlocksAtPeak(const MemoryTrace& trace, const LabelTable& labels,
                                    const std::vector<Holder>& before, std::int64_t peak_event) {
  std::vector<HeldBlock> blocks;
  for (const Holder& holder : before) {
    blocks.push_back(
        {.holder = holder.label, .tag = holder.tag, .bytes = holder.bytes, .before_step = true});
  }
  const OperationIndex operations(trace, labels);
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.begin > peak_event || life.end <= peak_event) continue;
    blocks.push_back({.holder = labels.NameOf(life.label),
                      .tag = life.tag,
                      .bytes = life.bytes,
                      .form = FormOf(trace, life),
                      .made_by = operations.MakerOf(life),
                      .last_needed = operations.LastUserOf(life)});
  }
  std::ranges::stable_sort(blocks, std::ranges::greater{}, &HeldBlock::bytes);
  return blocks;
}

std::vector<StepOperation> OperationsOf(const MemoryTrace& trace, const LabelTable& labels,
                                        const StepMemory& memory) {
  std::vector<StepOperation> operations;
  const double start = trace.operations().empty() ? 0 : trace.operations().front().begin;
  const std::int64_t before = memory.baseline.Total();
  for (const TracedOperation& one : trace.operations()) {
    // Scratch memory of the call itself comes right behind its beginning.
    const auto& live = memory.timeline.live;
    const auto at = static_cast<std::size_t>(one.event);
    const std::int64_t taken =
        live.empty() || at == 0 ? 0 : live[std::min(at, live.size()) - 1].Total();
    operations.push_back({.name = NameOf(one, labels),
                          .event = one.event,
                          .flops = one.flops,
                          .bytes = one.bytes,
                          .begin = one.begin - start,
                          .seconds = one.seconds,
                          .live_bytes = before + taken});
  }
  return operations;
}

std::vector<MemoryShare> SharesBy(const StepMemory& memory,
                                  const std::function<std::string(const HeldBlock&)>& name) {
  std::map<std::string, MemoryShare> shares;
  std::map<std::string, std::set<std::string>> layers;
  for (const HeldBlock& block : memory.blocks) {
    const std::string key = name(block);
    MemoryShare& share = shares[key];
    share.name = key;
    share.bytes += block.bytes;
    ++share.blocks;
    layers[key].insert(block.holder);
  }
  std::vector<MemoryShare> sorted;
  for (auto& [key, share] : shares) {
    share.layers = std::ssize(layers[key]);
    sorted.push_back(std::move(share));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &MemoryShare::bytes);
  return sorted;
}

// Says whose layer a parameter is, its value, gradient and state: "fc" of "fc.weight".
std::string LayerOf(const HeldBlock& block) {
  const bool is_parameters = block.tag == MemoryTag::kParameter ||
                             block.tag == MemoryTag::kGradient ||
                             block.tag == MemoryTag::kOptimizerState;
  const std::size_t dot = is_parameters ? block.holder.rfind('.') : std::string::npos;
  return dot == std::string::npos ? block.holder : block.holder.substr(0, dot);
}

}  // namespace

std::string Describe(const NamedOperation& operation) {
  return operation.layer + ": " + std::string(NameOf(operation.kind)) +
         (operation.recomputed ? ", again"
          : operation.backward ? ", backward"
                               : "");
}

StepMemory StepMemoryOf(const MemoryTrace& trace, const LabelTable& labels,
                        const std::vector<Holder>& before) {
  StepMemory memory;
  for (const Holder& holder : before) memory.baseline[holder.tag] += holder.bytes;
  memory.timeline = TimelineOf(trace, labels);
  memory.at_peak = memory.baseline;
  memory.end_bytes = memory.baseline.Total();
  std::int64_t peak_event = -1;  // nothing but what was there before
  const auto& live = memory.timeline.live;
  if (!live.empty()) {
    memory.end_bytes += live.back().Total();
    const BytesByTag& highest = live[memory.timeline.peak_event];
    if (highest.Total() > 0) {
      peak_event = static_cast<std::int64_t>(memory.timeline.peak_event);
      for (const MemoryTag tag : kAllMemoryTags) memory.at_peak[tag] += highest[tag];
    }
  }
  memory.peak_bytes = memory.at_peak.Total();
  memory.blocks = BlocksAtPeak(trace, labels, before, peak_event);
  memory.operations = OperationsOf(trace, labels, memory);
  return memory;
}

void AddPlacement(const MemoryTrace& trace, const LabelTable& labels, const ArenaLayout& layout,
                  std::size_t most, StepMemory& memory) {
  memory.arena_bytes = layout.arena_bytes;
  memory.arena_lower_bound_bytes = layout.lower_bound_bytes;
  std::size_t item = 0;
  for (const Lifetime& life : trace.lifetimes()) {
    if (!life.in_arena || item == layout.items.size()) continue;
    memory.placed.push_back({.holder = labels.NameOf(life.label),
                             .tag = life.tag,
                             .bytes = life.bytes,
                             .offset = layout.items[item++].offset,
                             .begin = life.begin,
                             .end = std::min(life.end, trace.event_count()),
                             .form = FormOf(trace, life)});
  }
  const auto area = [](const PlacedBlock& block) {
    return static_cast<double>(block.bytes) * static_cast<double>(block.end - block.begin);
  };
  std::ranges::stable_sort(memory.placed, std::ranges::greater{}, area);
  memory.placed.resize(std::min(most, memory.placed.size()));
}

std::vector<MemoryShare> SharesByKind(const StepMemory& memory) {
  return SharesBy(memory, [](const HeldBlock& block) {
    const bool was_made = block.made_by && !block.before_step;
    return std::string(was_made ? NameOf(block.made_by->kind) : NameOf(block.tag));
  });
}

std::vector<MemoryShare> SharesByLayer(const StepMemory& memory) {
  return SharesBy(memory, LayerOf);
}

}  // namespace frugal
