#include "sdk/plan/chain.h"

#include <algorithm>

namespace frugal {
namespace {

using std::int64_t;

// Runs a part of a chain forward and back by a schedule and follows what is live.
class Simulation {
 public:
  explicit Simulation(Chain chain) : chain_(chain) {}

  // Stages [begin, end) with `held` bytes live around them.
  void Run(std::size_t begin, std::size_t end, const CheckpointSegments& segments, int64_t held) {
    if (begin == end) return;
    const int64_t outside = held + chain_[end - 1].output_bytes;  // with the gradient given
    int64_t kept = 0;
    std::size_t at = begin;
    for (const CheckpointSegment& segment : segments) {
      for (; at < segment.begin; ++at) kept += Keep(at, outside + kept);
      kept += Drop(segment, outside + kept);
      at = std::max(at, segment.end);
    }
    for (; at < end; ++at) kept += Keep(at, outside + kept);
    Back(begin, end, segments, held + kept);
  }

  ChainCost cost() const { return cost_; }

 private:
  void See(int64_t live) { cost_.peak_bytes = std::max(cost_.peak_bytes, live); }

  int64_t Keep(std::size_t i, int64_t live) {
    See(live + chain_[i].kept_bytes + chain_[i].forward_workspace);
    cost_.seconds += chain_[i].forward_seconds;
    return chain_[i].kept_bytes;
  }

  int64_t Drop(const CheckpointSegment& segment, int64_t live) {
    int64_t input = 0;
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      See(live + input + chain_[i].output_bytes + chain_[i].plain_workspace);
      cost_.seconds += chain_[i].forward_seconds;
      input = chain_[i].output_bytes;
    }
    return input;
  }

  // Backward through [begin, end), `live` with all that the forward pass kept.
  void Back(std::size_t begin, std::size_t end, const CheckpointSegments& segments, int64_t live) {
    std::size_t at = end;
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      while (at > segment->end) live -= BackOne(--at, live);
      if (segment->begin == segment->end) continue;
      live -= chain_[segment->end - 1].output_bytes;
      Run(segment->begin, segment->end, segment->inner, live);
      at = segment->begin;
    }
    while (at > begin) live -= BackOne(--at, live);
  }

  int64_t BackOne(std::size_t i, int64_t live) {
    See(live + chain_[i].output_bytes + chain_[i].backward_workspace);
    cost_.seconds += chain_[i].backward_seconds;
    return chain_[i].kept_bytes;
  }

  Chain chain_;
  ChainCost cost_;
};

}  // namespace

ChainCost Simulate(Chain chain, const CheckpointSegments& segments) {
  Simulation simulation(chain);
  simulation.Run(0, chain.size(), segments, 0);
  return simulation.cost();
}

ChainStage Merge(Chain chain) {
  if (chain.empty()) return {};
  ChainStage all;
  all.output_bytes = chain.back().output_bytes;
  int64_t forward_peak = 0;
  int64_t plain_peak = 0;
  int64_t backward_peak = 0;
  int64_t input = 0;
  for (const ChainStage& stage : chain) {
    all.forward_seconds += stage.forward_seconds;
    all.backward_seconds += stage.backward_seconds;
    all.kept_bytes += stage.kept_bytes;
    forward_peak = std::max(forward_peak, all.kept_bytes + stage.forward_workspace);
    plain_peak = std::max(plain_peak, input + stage.output_bytes + stage.plain_workspace);
    backward_peak =
        std::max(backward_peak, all.kept_bytes + stage.output_bytes + stage.backward_workspace);
    input = stage.output_bytes;
  }
  all.forward_workspace = forward_peak - all.kept_bytes;
  all.plain_workspace = plain_peak - all.output_bytes;
  all.backward_workspace = std::max<int64_t>(0, backward_peak - all.kept_bytes - all.output_bytes);
  return all;
}

}  // namespace frugal
