#include "sdk/memory/step_memory.h"

#include <numeric>

#include "tests/catch.h"

namespace frugal::testing {
namespace {

std::int64_t SumOf(const std::vector<MemoryShare>& shares) {
  return std::accumulate(
      shares.begin(), shares.end(), std::int64_t{0},
      [](std::int64_t sum, const MemoryShare& share) { return sum + share.bytes; });
}

// A conv keeps x and y, a matmul takes scratch at the peak, backward gives all back.
struct SmallStep {
  SmallStep() {
    const auto conv = labels.Intern("conv"), fc = labels.Intern("fc");
    const TensorForm x_form = {DType::kF32, {4, 8}}, y_form = {DType::kBF16, {4, 16}};
    x = trace.Begin(128, MemoryTag::kActivation, conv, true, &x_form);
    trace.Add({.label = conv, .kind = OperationKind::kConvolution});
    y = trace.Begin(192, MemoryTag::kActivation, fc, true, &y_form);
    trace.Add({.label = fc, .kind = OperationKind::kMatmul});
    const auto scratch = trace.Begin(64, MemoryTag::kWorkspace, fc, true);
    trace.End(scratch);
    trace.Add({.label = fc, .kind = OperationKind::kMatmul, .backward = true});
    trace.End(y);
    trace.Add({.label = conv, .kind = OperationKind::kConvolution, .backward = true});
    trace.End(x);
  }
  LabelTable labels;
  MemoryTrace trace{MemoryTrace::Detail::kTensorsAndOperations};
  std::int64_t x = 0, y = 0;
};

TEST_CASE("the peak of a step is told block by block") {
  const SmallStep step;
  const std::vector<Holder> before = {{"conv.weight", MemoryTag::kParameter, 256}};
  const StepMemory memory = StepMemoryOf(step.trace, step.labels, before);
  CHECK(memory.peak_bytes == 256 + 128 + 192 + 64);
  CHECK(memory.at_peak.Total() == memory.peak_bytes);
  CHECK(memory.end_bytes == 256);
  REQUIRE(memory.blocks.size() == 4);
  CHECK(memory.blocks[0].before_step);
  CHECK(memory.blocks[0].holder == "conv.weight");

  const HeldBlock& y = memory.blocks[1];
  CHECK(y.form == TensorForm{DType::kBF16, {4, 16}});
  REQUIRE(y.made_by);
  CHECK(Describe(*y.made_by) == "fc: matmul");
  REQUIRE(y.last_needed);
  CHECK(Describe(*y.last_needed) == "fc: matmul, backward");

  const HeldBlock& x = memory.blocks[2];
  CHECK(Describe(*x.made_by) == "conv: convolution");
  CHECK(Describe(*x.last_needed) == "conv: convolution, backward");
  const HeldBlock& scratch = memory.blocks[3];
  CHECK(scratch.tag == MemoryTag::kWorkspace);
  CHECK(Describe(*scratch.made_by) == "fc: matmul");
  CHECK(Describe(*scratch.last_needed) == "fc: matmul");
}

TEST_CASE("shares of a step's peak add up to it") {
  const SmallStep step;
  const StepMemory memory = StepMemoryOf(
      step.trace, step.labels,
      {{"conv.weight", MemoryTag::kParameter, 256}, {"fc.weight", MemoryTag::kParameter, 64}});
  const std::vector<MemoryShare> kinds = SharesByKind(memory);
  CHECK(SumOf(kinds) == memory.peak_bytes);
  CHECK(SumOf(SharesByLayer(memory)) == memory.peak_bytes);
  REQUIRE(kinds.size() == 3);
  CHECK(kinds[0].name == "parameter");
  CHECK(kinds[0].layers == 2);
  CHECK(kinds[1].name == "matmul");
  CHECK(kinds[1].bytes == 192 + 64);
  CHECK(kinds[1].blocks == 2);
  CHECK(kinds[2].name == "convolution");
}

TEST_CASE("a step that takes nothing peaks at what was there") {
  const LabelTable labels;
  const MemoryTrace trace(MemoryTrace::Detail::kTensorsAndOperations);
  const StepMemory none = StepMemoryOf(trace, labels, {});
  CHECK(none.peak_bytes == 0);
  CHECK(none.blocks.empty());
  const StepMemory some = StepMemoryOf(trace, labels, {{"w", MemoryTag::kParameter, 64}});
  CHECK(some.peak_bytes == 64);
  CHECK(some.end_bytes == 64);
}

TEST_CASE("a trace without detail keeps neither forms nor operations") {
  LabelTable labels;
  MemoryTrace trace;
  const TensorForm form = {DType::kF32, {4}};
  trace.Begin(64, MemoryTag::kActivation, labels.Intern("a"), true, &form);
  CHECK_FALSE(trace.has_operations());
  CHECK(trace.FormOf(trace.lifetimes().front()) == nullptr);
}

TEST_CASE("blocks of the arena are placed as its layout says") {
  const SmallStep step;
  StepMemory memory = StepMemoryOf(step.trace, step.labels, {});
  const ArenaLayout layout = PlaceInArena(step.trace);
  AddPlacement(step.trace, step.labels, layout, 2, memory);
  CHECK(memory.arena_bytes == layout.arena_bytes);
  REQUIRE(memory.placed.size() == 2);  // the largest ones alone
  for (const PlacedBlock& block : memory.placed) {
    CHECK(block.offset >= 0);
    CHECK(block.offset + block.bytes <= layout.arena_bytes);
    CHECK(block.begin < block.end);
  }
}

}  // namespace
}  // namespace frugal::testing
