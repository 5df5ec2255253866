// Snapshots are read by any number of devices, whatever number wrote them.
#include "tests/properties/device_meshes.h"
#include "tests/snapshot/resumed_runs.h"

namespace frugal::testing {
namespace {

// Trains on one mesh and goes on in the middle on another.
void CheckMoves(const SmallRun& from, const SmallRun& to, const Trained& whole) {
  const TempDir directory(MemoryDirectory());
  TrainWithSnapshots(from, directory.File("s"));
  const auto entries = ListSnapshots(directory.File("s"));
  CheckSameCurves(whole, TrainOn(to, entries.at(2).path));
}

TEST_CASE("a training moves from one device to two and four and back", "[devices]") {
  for (const std::string network : {"resnet", "gpt2"}) {
    INFO(network);
    SmallRun run = RunOf(network);
    run.max_steps = 6;
    run.optimizer.ema_decay = 0.9;
    const std::vector<Mesh> meshes = {
        {.devices = 1, .micro_batches = 2},
        {.devices = 2, .micro_batches = 2},
        {.devices = 4, .micro_batches = 2, .strategy = ShardingStrategy::kMemoryBalanced},
        {.devices = 2, .micro_batches = 2, .pipelined = true},
        {.devices = 1, .micro_batches = 2, .checkpointing = true}};
    const Trained whole = Train(On(meshes.front(), run));
    for (std::size_t i = 0; i < meshes.size(); ++i) {
      const Mesh& next = meshes[(i + 1) % meshes.size()];
      INFO(Describe(meshes[i]) << " to " << Describe(next));
      CheckMoves(On(meshes[i], run), On(next, run), whole);
    }
  }
}

TEST_CASE("a training moves between replicas of every ZeRO stage and one device", "[devices]") {
  SmallRun run = RunOf("resnet");
  run.max_steps = 6;
  std::vector<Mesh> meshes = {{.devices = 1, .micro_batches = 2, .groups = 2}};
  for (const std::int64_t stage : {0, 1, 2, 3}) {
    meshes.push_back({.devices = 2, .replicas = 2, .zero_stage = stage});
  }
  const Trained whole = Train(On(meshes.front(), run));
  for (std::size_t i = 0; i < meshes.size(); ++i) {
    const Mesh& next = meshes[(i + 1) % meshes.size()];
    INFO(Describe(meshes[i]) << " to " << Describe(next));
    CheckMoves(On(meshes[i], run), On(next, run), whole);
  }
}

}  // namespace
}  // namespace frugal::testing
