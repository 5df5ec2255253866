#include "builders/dry_run/checkpoint_policy.h"

#include "layers/residual.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

// A layer of one's own that says it is of some kind.
class OwnLayer final : public Layer {
 public:
  explicit OwnLayer(LayerKind kind) : kind_(kind) {}

  LayerKind kind() const override { return kind_; }
  std::string Describe() const override { return "own"; }

 private:
  Var Forward(Context&, const Var& input) override { return input; }

  LayerKind kind_;
};

std::unique_ptr<Sequential> ListOf(const std::vector<LayerKind>& kinds) {
  auto list = std::make_unique<Sequential>();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    list->Append(std::to_string(i), std::make_unique<OwnLayer>(kinds[i]));
  }
  return list;
}

// A dense layer, a block of two residuals, of which the first attends, an attention layer.
std::unique_ptr<Sequential> Network() {
  auto block = std::make_unique<Sequential>();
  block->Append("0", std::make_unique<Residual>(ListOf({LayerKind::kNorm, LayerKind::kAttention}),
                                                nullptr, ResidualOptions()));
  block->Append(
      "1", std::make_unique<Residual>(ListOf({LayerKind::kDense}), nullptr, ResidualOptions()));
  auto network = std::make_unique<Sequential>();
  network->Append("0", std::make_unique<OwnLayer>(LayerKind::kDense));
  network->Append("1", std::move(block));
  network->Append("2", std::make_unique<OwnLayer>(LayerKind::kAttention));
  network->AssignPaths("");
  return network;
}

void Collect(const Module& module, std::map<std::string, Recompute>& ways) {
  const auto* layer = dynamic_cast<const Layer*>(&module);
  if (layer != nullptr && layer->recompute() != Recompute::kWithOthers) {
    ways[layer->path()] = layer->recompute();
  }
  for (const Module::Child& child : module.children()) Collect(*child.module, ways);
}

// The layers that do not run like those around them.
std::map<std::string, Recompute> WaysOf(const Sequential& network) {
  std::map<std::string, Recompute> ways;
  Collect(network, ways);
  return ways;
}

using Ways = std::map<std::string, Recompute>;

TEST_CASE("N counts the layers that a plan lists", "[checkpoint]") {
  const auto network = Network();
  const std::map<std::int64_t, std::map<std::string, int>> expected = {
      {1, {{"0", 0}, {"1", 1}, {"2", 2}}},
      {2, {{"0", 0}, {"1", 0}, {"2", 1}}},
      {3, {{"0", 0}, {"1", 0}, {"2", 0}}},
      {100, {{"0", 0}, {"1", 0}, {"2", 0}}}};
  for (const auto& [every, numbers] : expected) {
    INFO(every);
    SetCheckpointSegments(*network, {.enabled = true, .every_n_layers = every}, {});
    CHECK(SegmentNumbers(*network) == numbers);
    CHECK(WaysOf(*network).empty());
  }
  SetCheckpointSegments(*network, {}, {});
  CHECK(network->segments().empty());
}

TEST_CASE("a list alone in a network is the chain itself", "[checkpoint]") {
  Sequential outer;
  outer.Append("net", Network());
  outer.AssignPaths("");
  SetCheckpointSegments(outer, {.enabled = true, .every_n_layers = 2}, {});
  CHECK(SegmentNumbers(outer) ==
        std::map<std::string, int>{{"net.0", 0}, {"net.1", 0}, {"net.2", 1}});
}

TEST_CASE("a layer that keeps more than the threshold is a run of its own", "[checkpoint]") {
  const auto network = ListOf({LayerKind::kDense, LayerKind::kDense, LayerKind::kDense,
                               LayerKind::kDense, LayerKind::kDense});
  network->AssignPaths("");
  const SavedBytes kept = {{"0", 10}, {"1", 10}, {"2", 11}, {"3", 10}, {"4", 10}};
  const CheckpointOptions options = {
      .enabled = true, .every_n_layers = 10, .saved_bytes_threshold = 10};
  SetCheckpointSegments(*network, options, kept);
  CHECK(SegmentNumbers(*network) ==
        std::map<std::string, int>{{"0", 0}, {"1", 0}, {"2", 1}, {"3", 2}, {"4", 2}});
}

TEST_CASE("the kinds say which layers run once", "[checkpoint]") {
  const auto network = Network();
  CheckpointOptions options = {.enabled = true, .attention_layers = false};
  SetCheckpointSegments(*network, options, {});
  CHECK(WaysOf(*network) == Ways{{"1.0.1", Recompute::kNever}, {"2", Recompute::kNever}});
  options = {.enabled = true, .residual_blocks = false};
  SetCheckpointSegments(*network, options, {});
  CHECK(WaysOf(*network) == Ways{{"1.0", Recompute::kNever},
                                 {"1.0.1", Recompute::kAlways},
                                 {"1.1", Recompute::kNever}});
  options = {.enabled = true, .attention_layers = false, .residual_blocks = false};
  SetCheckpointSegments(*network, options, {});
  CHECK(WaysOf(*network) ==
        Ways{{"1.0", Recompute::kNever}, {"1.1", Recompute::kNever}, {"2", Recompute::kNever}});
  SetCheckpointSegments(*network, {}, {});
  CHECK(WaysOf(*network).empty());
}

TEST_CASE("what says that it is a list, but is none, is one layer", "[checkpoint]") {
  for (const LayerKind kind : {LayerKind::kSequential, LayerKind::kResidual}) {
    const auto network = ListOf({kind, kind, LayerKind::kDense});
    network->AssignPaths("");
    CHECK(network->Leaves().size() == 3);
    SetCheckpointSegments(*network, {.enabled = true, .every_n_layers = 2}, {});
    CHECK(SegmentNumbers(*network) == std::map<std::string, int>{{"0", 0}, {"1", 0}, {"2", 1}});
  }
}

}  // namespace
}  // namespace frugal::testing
