#include "layers/sequential.h"

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/simple_layers.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

using Segments = CheckpointSegments;

struct Outcome {
  Pass pass;
  std::vector<Tensor> gradients;
  std::vector<Tensor> values;
  std::int64_t activation_peak = 0;
};

// Two passes, so that running statistics have moved before the second.
Outcome Run(const EnvironmentKind& kind, Layer& layer, const Shape& shape) {
  TestEnvironment environment(kind);
  const Tensor input = RandomTensor(shape, 5, kind.dtype);
  Outcome outcome;
  for (int step = 0; step < 2; ++step) {
    environment.context().set_step(step);
    environment.store().ClearGradients();
    outcome.pass = RunPass(
        environment, [&](Context& context, const Var& x) { return layer(context, x); }, input);
  }
  outcome.gradients = GradientsOf(environment, layer);
  outcome.values = ValuesOf(environment, layer);
  outcome.activation_peak = environment.ledger().peak()[MemoryTag::kActivation];
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
  for (const EnvironmentKind& kind : AllEnvironments()) {
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

std::unique_ptr<Layer> LayerOfCase(const std::string& name) {
  for (const LayerCase& one : LayerCases()) {
    if (one.name == name) return one.make();
  }
  return nullptr;
}

// Lists inside lists, and one list that is empty.
std::unique_ptr<Layer> MakeNestedNetwork() {
  auto network = std::make_unique<Sequential>();
  auto first = std::make_unique<Sequential>();
  first->Append(
      "0", std::make_unique<Conv2d>(3, Conv2dOptions{.filters = 4, .kernel = {3}, .padding = {1}}));
  first->Append("1", std::make_unique<BatchNormLayer>(4, BatchNormOptions{.relu = true}));
  auto second = std::make_unique<Sequential>();
  second->Append("3", std::make_unique<Pool2d>(PoolKind::kMax, Pool2dOptions{.kernel = {2}}));
  second->Append("4", std::make_unique<DropoutLayer>(DropoutOptions{.rate = 0.25}));
  auto middle = std::make_unique<Sequential>();
  middle->Append("2", LayerOfCase("residual with shortcut"));
  middle->Append("second", std::move(second));
  network->Append("first", std::move(first));
  network->Append("middle", std::move(middle));
  network->Append("nothing", std::make_unique<Sequential>());
  network->Append("5", std::make_unique<FlattenLayer>());
  network->Append("6", std::make_unique<Dense>(128, DenseOptions{.units = 5}));
  return network;
}

TEST_CASE("segments inside segments change no bit", "[layers][checkpoint]") {
  const std::vector<Segments> choices = {{{0, 8, {{0, 4, {{0, 2}, {2, 3}}}, {5, 7}}}},
                                         {{0, 3, {{0, 3}}}, {4, 8, {{5, 7, {{6, 7}}}}}},
                                         {{1, 8, {{1, 7, {{1, 6, {{1, 5, {{1, 4}}}}}}}}}}};
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const auto plain = Ready(MakeSmallNetwork());
    const Outcome expected = Run(kind, *plain, {3, 8, 8, 3});
    for (const Segments& segments : choices) {
      const auto network = Ready(MakeSmallNetwork());
      static_cast<Sequential&>(*network).SetSegments(segments);
      CheckSameBits(expected, Run(kind, *network, {3, 8, 8, 3}));
    }
  }
}

TEST_CASE("segments of leaves cross the borders of lists and change no bit",
          "[layers][checkpoint]") {
  const std::vector<Segments> choices = {
      {{0, 7}}, {{1, 3}, {4, 6}}, {{1, 6, {{1, 4, {{2, 3}}}, {4, 5}}}}, {{2, 2}, {6, 7}}};
  for (const EnvironmentKind& kind : AllEnvironments()) {
    const auto plain = Ready(MakeNestedNetwork());
    CHECK(static_cast<Sequential&>(*plain).Leaves().size() == 7);
    const Outcome expected = Run(kind, *plain, {3, 8, 8, 3});
    for (const Segments& segments : choices) {
      const auto network = Ready(MakeNestedNetwork());
      auto& list = static_cast<Sequential&>(*network);
      list.SetLeafSegments(segments);
      CHECK(list.cuts_leaves());
      CheckSameBits(expected, Run(kind, *network, {3, 8, 8, 3}));
      list.SetSegments({});
      CHECK_FALSE(list.cuts_leaves());
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
    for (const EnvironmentKind& kind : AllEnvironments()) {
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
  TestEnvironment environment(kReferenceF64);
  const auto nothing = Ready(std::make_unique<Sequential>());
  const Tensor input = RandomTensor({2, 3}, 1, DType::kF64);
  const Var output = (*nothing)(environment.context(), {input});
  CHECK(output.value.SharesStorageWith(input));
  CHECK(nothing->Describe() == "sequential of 0");
}

}  // namespace
}  // namespace frugal::testing
