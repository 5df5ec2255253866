#include "sdk/memory/simultaneous_buffers.h"

#include "tests/catch.h"

namespace frugal::testing {
namespace {

TEST_CASE("blocks of one size in one hand at one time are side by side", "[memory]") {
  LabelTable labels;
  const LabelTable::Id conv = labels.Intern("conv");
  const LabelTable::Id dense = labels.Intern("dense");
  MemoryTrace trace;
  const auto input = trace.Begin(100, MemoryTag::kActivation, conv, true);  // event 0
  trace.Begin(100, MemoryTag::kActivation, conv, true);                     // 1
  trace.Begin(100, MemoryTag::kWorkspace, conv, true);                      // 2: another purpose
  trace.Begin(100, MemoryTag::kActivation, dense, true);                    // 3: another hand
  trace.Begin(9, MemoryTag::kActivation, dense, true);                      // 4: small ones
  trace.Begin(9, MemoryTag::kActivation, dense, true);                      // 5
  trace.Begin(50, MemoryTag::kOptimizerState, dense, false);                // 6: moments
  trace.Begin(50, MemoryTag::kOptimizerState, dense, false);                // 7
  trace.End(input);                                                         // 8
  CHECK(FindSimultaneousBuffers(trace, labels, 0, 10).empty());
  const auto found = FindSimultaneousBuffers(trace, labels, 7, 10);
  REQUIRE(found.size() == 1);
  CHECK(found.front().label == "conv");
  CHECK(found.front().tag == MemoryTag::kActivation);
  CHECK(found.front().bytes == 100);
  CHECK(found.front().count == 2);
  CHECK(FindSimultaneousBuffers(trace, labels, 8, 10).empty());
  CHECK(FindSimultaneousBuffers(trace, labels, 7, 1).size() == 2);
  CHECK(FindSimultaneousBuffers(MemoryTrace(), labels, 0, 1).empty());
}

}  // namespace
}  // namespace frugal::testing
