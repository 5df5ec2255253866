#include "sdk/module/repeat.h"

#include <set>

#include "sdk/core/error.h"
#include "sdk/memory/planned_arena.h"
#include "sdk/memory/recording.h"
#include "tests/catch.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kLong = kShortLoop + 30;

Parameter NamedWeight() {
  return {.name = "w", .path = "w", .shape = {4}, .initializer = Initializer::Zero()};
}

// A step with a loop in a loop, both of `turns` turns.
class LoopStep {
 public:
  LoopStep(Context& context, std::int64_t turns) : context_(context), turns_(turns) {}

  void Run() {
    const Tensor around = context_.Allocate({100}, DType::kF32);
    Repeat(context_, turns_, [&](std::int64_t outer) {
      const Tensor large = context_.Allocate({64}, DType::kF32);
      Repeat(context_, turns_, [&](std::int64_t inner) { Inner(outer, inner); });
      const Tensor behind = context_.Allocate({16}, DType::kF32);
    });
  }
  const std::set<std::pair<std::int64_t, std::int64_t>>& met() const { return met_; }

 private:
  void Inner(std::int64_t outer, std::int64_t inner) {
    met_.insert({outer, inner});
    const Tensor small = context_.Allocate({32}, DType::kF32);
    context_.Launch({.kind = OperationKind::kMatmul, .flops = 3, .scratch_bytes = 640},
                    [](Backend&, void*) {});
    context_.parameters().GradientFor(weight_);
  }

  Context& context_;
  std::int64_t turns_;
  Parameter weight_ = NamedWeight();
  std::set<std::pair<std::int64_t, std::int64_t>> met_;
};

MemoryTrace Record(TestEnvironment& environment, LoopStep& step) {
  MemoryTrace trace;
  const RecordingScope recording(environment.ledger(), trace);
  step.Run();
  return trace;
}

bool SameLives(const MemoryTrace& a, const MemoryTrace& b) {
  return std::ranges::equal(
      a.lifetimes(), b.lifetimes(), [](const Lifetime& one, const Lifetime& other) {
        return one.bytes == other.bytes && one.begin == other.begin && one.end == other.end &&
               one.times == other.times && one.in_arena == other.in_arena;
      });
}

TEST_CASE("a long loop runs dry in three turns, which count for all", "[module][repeat]") {
  TestEnvironment dry({BackendKind::kEigen, DType::kF32, true});
  LoopStep step(dry.context(), kLong);
  const MemoryTrace trace = Record(dry, step);
  CHECK(step.met().size() == 9);
  CHECK(step.met().contains({kLong - 1, kLong - 1}));
  CHECK(dry.context().profile().flops == 3.0 * kLong * kLong);
  CHECK(dry.store().Contributions() == std::vector<std::int64_t>{kLong * kLong});
  CHECK(trace.lifetimes().size() < 30);
  CHECK(TimelineOf(trace, dry.ledger().labels()).shortens_loops);
  std::int64_t lives = 0;
  for (const Lifetime& life : trace.lifetimes()) lives += life.times;
  CHECK(lives == 1 + kLong * (2 + 2 * kLong) + 1);  // and the gradient
  // Each is taken once, and all but the gradient are given back.
  CHECK(trace.WholeEvents().back() == 2 * lives - 1);
}

TEST_CASE("a long loop that runs is recorded as a dry one", "[module][repeat]") {
  TestEnvironment dry({BackendKind::kEigen, DType::kF32, true});
  LoopStep planned(dry.context(), kLong);
  const MemoryTrace expected = Record(dry, planned);
  TestEnvironment environment(kReferenceF32);
  LoopStep step(environment.context(), kLong);
  const MemoryTrace trace = Record(environment, step);
  CHECK(step.met().size() == kLong * kLong);
  CHECK(environment.context().profile().flops == 3.0 * kLong * kLong);
  CHECK(environment.store().Contributions() == std::vector<std::int64_t>{kLong * kLong});
  CHECK(SameLives(trace, expected));
  CHECK(trace.WholeEvents() == expected.WholeEvents());
}

TEST_CASE("a short loop is recorded turn by turn", "[module][repeat]") {
  TestEnvironment dry({BackendKind::kEigen, DType::kF32, true});
  LoopStep step(dry.context(), kShortLoop);
  const MemoryTrace trace = Record(dry, step);
  CHECK(trace.repeated().empty());
  CHECK_FALSE(TimelineOf(trace, dry.ledger().labels()).shortens_loops);
  CHECK(trace.lifetimes().size() == 1 + kShortLoop * (2 + 2 * kShortLoop) + 1);
}

// A step whose memory is an arena, laid out by what a dry run of it recorded.
TEST_CASE("loops run at the places that few of their turns were planned at", "[module][repeat]") {
  TestEnvironment dry({BackendKind::kEigen, DType::kF32, true});
  LoopStep planned(dry.context(), kLong);
  const ArenaLayout layout = PlaceInArena(Record(dry, planned));
  CHECK(layout.items.size() < 30);
  CHECK(layout.loops.size() == 4);  // the outer one, and one in each turn of it
  CHECK(layout.arena_bytes == layout.lower_bound_bytes);

  HeapAllocator heap;
  MemoryLedger ledger;
  PlannedArena arena(1 << 20);
  TrackedAllocator tensors(ledger, heap, false), step_memory(ledger, arena, true);
  ParameterStore store(tensors, ledger, {});
  const auto backend = MakeBackend(BackendKind::kEigen);
  Context context(
      {.backend = *backend, .ledger = ledger, .step_memory = step_memory, .parameters = store});
  LoopStep step(context, kLong);
  for (int i = 0; i < 2; ++i) {
    arena.Begin(layout);
    step.Run();
    arena.End();
  }
  CHECK(step.met().size() == kLong * kLong);
  arena.Begin(layout);
  const Tensor around = context.Allocate({100}, DType::kF32);
  CHECK_THROWS_AS(context.Allocate({65}, DType::kF32), UsageError);  // where a loop begins
  arena.Abandon();
}

}  // namespace
}  // namespace frugal::testing
