#include "layers/sequential.h"

#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal::test {
namespace {

using Segments = std::vector<CheckpointSegment>;

struct Outcome {
  Pass pass;
  std::vector<Tensor> gradients;
  std::vector<Tensor> values;
  std::int64_t activation_peak = 0;
};

// Two passes, so that running statistics have moved before the second.
Outcome Run(const WorldKind& kind, Layer& layer, const Shape& shape) {
  TestWorld world(kind);
  const Tensor input = RandomTensor(shape, 5, kind.dtype);
  Outcome outcome;
  for (int step = 0; step < 2; ++step) {
    world.context().set_step(step);
    world.store().ClearGradients();
    outcome.pass = RunPass(
        world, [&](Context& context, const Var& x) { return layer(context, x); }, input);
  }
  outcome.gradients = GradientsOf(world, layer);
  outcome.values = ValuesOf(world, layer);
  outcome.activation_peak = world.ledger().peak()[MemoryTag::kActivation];
  return outcome;
}

void CheckSameBits(const Outcome& a, const Outcome& b) {
  CHECK(SameBits(a.pass.output, b.pass.output));
  CHECK(SameBits(a.pass.input_gradient, b.pass.input_gradient));
  CHECK(SameBits(a.gradients, b.gradients));
  CHECK(SameBits(a.values, b.values));
}

// Segments of `every` layers over `count`.
Segments Every(std::size_t every, std::size_t count) {
  Segments segments;
  for (std::size_t begin = 0; begin < count; begin += every) {
    segments.push_back({begin, std::min(begin + every, count)});
  }
  return segments;
}

TEST_CASE("segments of a network change no bit", "[layers][checkpoint]") {
  for (const WorldKind& kind : AllWorlds()) {
    const auto plain = Ready(MakeSmallNetwork());
    const Outcome expected = Run(kind, *plain, {3, 8, 8, 3});
    std::vector<Segments> choices = {{{1, 3}}, {{0, 2}, {4, 7}}, {{2, 3}, {3, 3}, {7, 8}}};
    for (const std::size_t every : {1U, 2U, 3U, 6U, 8U}) choices.push_back(Every(every, 8));
    for (const Segments& segments : choices) {
      INFO(kind << ", " << segments.size() << " segments");
      const auto network = Ready(MakeSmallNetwork());
      static_cast<Sequential&>(*network).SetSegments(segments);
      CheckSameBits(expected, Run(kind, *network, {3, 8, 8, 3}));
    }
  }
}

// A layer in a segment of its own within a Sequential.
std::unique_ptr<Layer> InSegment(std::unique_ptr<Layer> layer, bool checkpointed) {
  auto around = std::make_unique<Sequential>();
  around->Append("inner", std::move(layer));
  if (checkpointed) around->SetSegments({{0, 1}});
  return Ready(std::move(around));
}

TEST_CASE("every layer runs checkpointed without changing a bit", "[layers][checkpoint]") {
  for (const LayerCase& one : LayerCases()) {
    for (const WorldKind& kind : AllWorlds()) {
      INFO(one.name << " on " << kind);
      const auto plain = InSegment(one.make(), false);
      const auto checkpointed = InSegment(one.make(), true);
      CheckSameBits(Run(kind, *plain, one.input), Run(kind, *checkpointed, one.input));
    }
  }
}

TEST_CASE("segments lower the peak of a network", "[layers][checkpoint][memory]") {
  const auto deep = [](const Segments& segments) {
    auto network = std::make_unique<Sequential>();
    for (int i = 0; i < 12; ++i) {
      network->Append(std::to_string(i), LayerCases()[6].make());  // an activation
    }
    network->SetSegments(segments);
    return Ready(std::move(network));
  };
  CHECK(LayerCases()[6].name == "activation");
  const Shape shape = {8, 6, 5, 4};
  const auto plain = deep({});
  const std::int64_t peak = Run(kReferenceF64, *plain, shape).activation_peak;
  for (const std::size_t every : {2U, 3U, 4U, 6U}) {
    const auto network = deep(Every(every, 12));
    CHECK(Run(kReferenceF64, *network, shape).activation_peak < peak * 3 / 4);
  }
}

TEST_CASE("a sequential of nothing is the identity", "[layers][edges]") {
  TestWorld world(kReferenceF64);
  const auto nothing = Ready(std::make_unique<Sequential>());
  const Tensor input = RandomTensor({2, 3}, 1, DType::kF64);
  const Var output = (*nothing)(world.context(), {input});
  CHECK(output.value.SharesStorageWith(input));
  CHECK(nothing->Describe() == "sequential of 0");
}

}  // namespace
}  // namespace frugal::test
