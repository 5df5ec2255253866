#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

// A dry run takes and gives back the same memory in the same order as a real one.
namespace frugal::testing {
namespace {

struct Use {
  BytesByTag peak;
  BytesByTag at_peak;
  std::int64_t peak_total = 0;
  double flops = 0;
  std::vector<std::string> events;  // one line per block: what, for whom, from when to when
};

std::string Line(const Lifetime& life, const LabelTable& labels) {
  const std::string end = life.end == kStillLive ? "kept" : std::to_string(life.end);
  return std::to_string(life.bytes) + " " + std::string(NameOf(life.tag)) + " " +
         labels.NameOf(life.label) + (life.in_arena ? " arena " : " tensors ") +
         std::to_string(life.begin) + ".." + end;
}

// Two steps: the second has its parameters already.
Use Measure(const LayerCase& one, const EnvironmentKind& kind) {
  TestEnvironment environment(kind);
  const auto layer = Ready(one.make());
  const Tensor input = RandomTensor(one.input, 5, kind.dtype);
  MemoryTrace trace;
  environment.ledger().RecordInto(&trace);
  for (int step = 0; step < 2; ++step) {
    environment.store().ClearGradients();
    RunPass(
        environment, [&](Context& context, const Var& x) { return (*layer)(context, x); }, input);
  }
  environment.ledger().RecordInto(nullptr);
  Use use{environment.ledger().peak(),
          environment.ledger().at_peak(),
          environment.ledger().peak_total(),
          environment.context().profile().flops,
          {}};
  for (const Lifetime& life : trace.lifetimes()) {
    use.events.push_back(Line(life, environment.ledger().labels()));
  }
  return use;
}

TEST_CASE("dry and real runs take the same memory, event by event", "[layers][dry]") {
  for (const LayerCase& one : LayerCases()) {
    for (EnvironmentKind kind : AllEnvironments()) {
      INFO(one.name << " on " << kind);
      const Use real = Measure(one, kind);
      kind.dry = true;
      const Use dry = Measure(one, kind);
      CHECK(real.peak == dry.peak);
      CHECK(real.at_peak == dry.at_peak);
      CHECK(real.peak_total == dry.peak_total);
      // A sequence of positions is another view of the same memory.
      CHECK((real.peak_total > 0) == (one.name != "to_sequence"));
      CHECK(real.flops == dry.flops);
      CHECK(real.events == dry.events);
    }
  }
}

TEST_CASE("a dry run takes nothing from the system", "[layers][dry]") {
  for (EnvironmentKind kind : AllEnvironments()) {
    kind.dry = true;
    TestEnvironment environment(kind);
    const auto network = Ready(MakeSmallNetwork());
    const Tensor input = RandomTensor({3, 8, 8, 3}, 5, kind.dtype);
    RunPass(
        environment, [&](Context& context, const Var& x) { return (*network)(context, x); }, input);
    CHECK(environment.ledger().peak_total() > 0);
    CHECK(environment.heap().allocation_count() == 0);
  }
}

TEST_CASE("a dry run of a batch far beyond the machine is planned", "[layers][dry]") {
  TestEnvironment environment({BackendKind::kEigen, DType::kF32, true});
  TestEnvironment shapes({BackendKind::kEigen, DType::kF32, true});
  const auto network = Ready(MakeSmallNetwork());
  Context& context = environment.context();
  // A batch of a hundred million images: terabytes.
  const Tensor input = context.Allocate({100000000, 8, 8, 3}, DType::kF32);
  Tape tape;
  const TapeScope scope(context, &tape);
  const Var output = (*network)(context, {input});
  CHECK(output.shape() == Shape({100000000, 5}));
  tape.Backward(context, output.slot, context.Allocate(output.shape(), output.dtype()));
  CHECK(environment.ledger().peak_total() > std::int64_t{1} << 40);
}

}  // namespace
}  // namespace frugal::testing
