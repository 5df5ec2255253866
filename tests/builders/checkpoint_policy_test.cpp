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

// Two such layers, and a real list of two.
std::unique_ptr<Sequential> NetworkOf(LayerKind kind) {
  auto inner = std::make_unique<Sequential>();
  inner->Append("0", std::make_unique<OwnLayer>(LayerKind::kAttention));
  inner->Append("1", std::make_unique<OwnLayer>(kind));
  auto network = std::make_unique<Sequential>();
  network->Append("0", std::make_unique<OwnLayer>(kind));
  network->Append("1", std::make_unique<OwnLayer>(kind));
  network->Append("2", std::move(inner));
  network->AssignPaths("");
  return network;
}

TEST_CASE("what says that it is a list, but is none, is one layer", "[checkpoint]") {
  for (const LayerKind kind : {LayerKind::kSequential, LayerKind::kResidual}) {
    const auto network = NetworkOf(kind);
    const std::vector<Layer*> leaves = network->Leaves();
    REQUIRE(leaves.size() == 4);
    CHECK(leaves[0] == &network->layer(0));
    const CheckpointOptions options = {.enabled = true,
                                       .every_n_layers = 2,
                                       .residual_blocks = false,
                                       .saved_bytes_threshold = {}};
    SetCheckpointSegments(*network, options, {});
    CHECK(SegmentNumbers(*network) ==
          std::map<std::string, int>{{"0", 0}, {"1", 0}, {"2.0", 1}, {"2.1", 2}});
  }
}

}  // namespace
}  // namespace frugal::testing
