#include "sdk/memory/trace.h"

#include "sdk/memory/ledger.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a name is stored once", "[memory][trace]") {
  LabelTable labels;
  const auto a = labels.Intern("a");
  const auto b = labels.Intern("b");
  CHECK(a != b);
  CHECK(labels.Intern("a") == a);
  CHECK(labels.NameOf(b) == "b");
}

TEST_CASE("a name that only one holder has gets a number of its own", "[memory][trace]") {
  LabelTable labels;
  const auto layer = labels.Intern("fc");
  const auto weight = labels.Add("fc.weight");
  CHECK(weight != layer);
  CHECK(labels.NameOf(weight) == "fc.weight");
  CHECK(labels.Intern("fc") == layer);
  labels.KeepNoMore();
  CHECK(labels.Add("fc.bias") == layer);
}

TEST_CASE("a ledger records lives in order, from where it is told to", "[memory][trace]") {
  HeapAllocator heap;
  MemoryLedger ledger;
  TrackedAllocator step(ledger, heap, true);
  TrackedAllocator tensors(ledger, heap, false);
  Block before = step.Allocate(64, MemoryTag::kActivation);
  MemoryTrace trace;
  ledger.RecordInto(&trace);
  ledger.SetLabel(ledger.labels().Intern("conv1"));
  Block a = step.Allocate(100, MemoryTag::kActivation);
  Block b = tensors.Allocate(200, MemoryTag::kGradient);
  before = Block();  // taken before the recording: no event
  a = Block();
  ledger.RecordInto(nullptr);
  b = Block();  // after it
  REQUIRE(trace.lifetimes().size() == 2);
  CHECK(trace.event_count() == 3);
  const Lifetime& first = trace.lifetimes()[0];
  CHECK(first.bytes == 128);
  CHECK(first.tag == MemoryTag::kActivation);
  CHECK(ledger.labels().NameOf(first.label) == "conv1");
  CHECK(first.begin == 0);
  CHECK(first.end == 2);
  CHECK(first.in_arena);
  CHECK(trace.lifetimes()[1].end == kStillLive);
  CHECK_FALSE(trace.lifetimes()[1].in_arena);
}

TEST_CASE("a block of an older recording is no event of a newer one", "[memory][trace]") {
  HeapAllocator heap;
  MemoryLedger ledger;
  TrackedAllocator step(ledger, heap, true);
  MemoryTrace first;
  MemoryTrace second;
  ledger.RecordInto(&first);
  Block old = step.Allocate(64, MemoryTag::kActivation);
  ledger.RecordInto(&second);
  const Block fresh = step.Allocate(64, MemoryTag::kActivation);
  old = Block();
  CHECK(second.event_count() == 1);
  CHECK(second.lifetimes()[0].end == kStillLive);
}

TEST_CASE("the timeline has live bytes after each event and the peak's holders",
          "[memory][trace]") {
  LabelTable labels;
  MemoryTrace trace;
  const auto a = labels.Intern("a");
  const auto b = labels.Intern("b");
  trace.Begin(100, MemoryTag::kActivation, a, true);                     // 0: 100
  const auto second = trace.Begin(50, MemoryTag::kWorkspace, b, true);   // 1: 150
  const auto third = trace.Begin(200, MemoryTag::kActivation, a, true);  // 2: 350, the peak
  trace.End(second);                                                     // 3: 300
  trace.End(third);                                                      // 4: 100
  trace.Begin(250, MemoryTag::kActivation, b, true);                     // 5: 350 again
  const MemoryTimeline timeline = TimelineOf(trace, labels);
  std::vector<std::int64_t> totals;
  for (const BytesByTag& live : timeline.live) totals.push_back(live.Total());
  CHECK(totals == std::vector<std::int64_t>{100, 150, 350, 300, 100, 350});
  CHECK(timeline.live[1][MemoryTag::kWorkspace] == 50);
  CHECK(timeline.live[3][MemoryTag::kWorkspace] == 0);
  CHECK(timeline.peak_event == 2);
  CHECK(DescribeHolders(timeline.holders_at_peak, 9) ==
        "a (activation, 300 B), b (workspace, 50 B)");
}

TEST_CASE("an empty trace has an empty timeline", "[memory][trace]") {
  const MemoryTimeline timeline = TimelineOf(MemoryTrace(), LabelTable());
  CHECK(timeline.live.empty());
  CHECK(timeline.holders_at_peak.empty());
}

}  // namespace
}  // namespace frugal
