#include "sdk/plan/chain.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace frugal {
namespace {

using std::int64_t;

// Returns true where a value is made in a run that began at `begin`, and goes past stage i - 1
// beside its output.
bool IsBeside(const SkipConnection& value, std::size_t begin, std::size_t i) {
  return value.made >= begin && value.made + 1 < i && value.taken >= i;
}

// Numbers of carried values by one of their stages, each stage's in one run.
class ByStage {
 public:
  ByStage(const std::vector<SkipConnection>& carried, std::size_t SkipConnection::*stage,
          std::size_t stages)
      : begins_(stages + 2) {
    const auto at = [&](const SkipConnection& value) { return std::min(value.*stage, stages); };
    for (const SkipConnection& value : carried) ++begins_[at(value) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    values_.resize(carried.size());
    std::vector<std::size_t> next = begins_;
    for (std::size_t v = 0; v < carried.size(); ++v) values_[next[at(carried[v])]++] = v;
  }

  std::span<const std::size_t> of(std::size_t stage) const {
    return std::span(values_).subspan(begins_[stage], begins_[stage + 1] - begins_[stage]);
  }

 private:
  std::vector<std::size_t> begins_, values_;
};

// Runs a part of a chain forward and back by a schedule and follows what is live.
class Simulation {
 public:
  // Stops where the peak is above the limit.
  Simulation(const Chain& chain, int64_t limit)
      : limit_(limit),
        chain_(chain.stages),
        carried_(chain.carried),
        made_(carried_, &SkipConnection::made, chain_.size()),
        taken_(carried_, &SkipConnection::taken, chain_.size()),
        places_(carried_.size()),
        states_(chain_.size()),
        waiting_bytes_(chain.waiting_bytes),
        carried_bytes_(waiting_bytes_) {
    for (std::size_t v = 0; v < carried_.size(); ++v) {
      if (carried_[v].taken >= chain_.size()) Put(v, Place::kGradient);
    }
  }

  // Stages [begin, end) with `held` bytes live around them.
  void Run(std::size_t begin, std::size_t end, const CheckpointSegments& segments, int64_t held) {
    if (begin == end || IsAbove()) return;
    TakeGradients(end - 1);                                       // they are part of the output's
    const int64_t outside = held + chain_[end - 1].output_bytes;  // with the gradient given
    int64_t kept = 0;
    int64_t unused = 0;
    int64_t input = 0;  // rematerialized, of what runs next
    RematState state = 0;
    std::size_t at = begin;
    const auto keep = [&] {
      const TapedBytes taped = TapedBytesOf(chain_[at], state);
      if (at + 1 == chain_.size()) carried_bytes_ -= waiting_bytes_;  // once: it is never run again
      kept += Keep(taped, outside + kept + unused + input, at + 1 == end);
      cost_.seconds += at + 1 < end ? chain_[at].forward_seconds : chain_[at].ending_seconds;
      states_[at] = std::exchange(state, OutputState(taped));
      input = taped.rematerialized_bytes;
    };
    for (const CheckpointSegment& segment : segments) {
      for (; at < segment.begin; ++at) keep();
      if (IsAbove()) return;
      if (segment.begin == segment.end) continue;
      kept += Drop(segment, outside + kept + unused, std::exchange(input, 0));
      state = 0;
      unused += MadeForNothing(segment);
      at = segment.end;
    }
    for (; at < end; ++at) keep();
    Back(begin, end, segments, held + kept);
  }

  ChainCost cost() const { return cost_; }

 private:
  // Says what is there of a carried value beside what stages keep.
  enum class Place : std::uint8_t { kNone, kValue, kGradient };

  bool IsAbove() const { return cost_.peak_bytes > limit_; }

  void See(int64_t live) { cost_.peak_bytes = std::max(cost_.peak_bytes, live + carried_bytes_); }

  void Put(std::size_t value, Place place) {
    if (places_[value] != Place::kNone) carried_bytes_ -= carried_[value].bytes;
    if (place != Place::kNone) carried_bytes_ += carried_[value].bytes;
    places_[value] = place;
  }

  int64_t Keep(const TapedBytes& taped, int64_t live, bool ends) {
    const int64_t workspace = ends ? taped.ending_workspace : taped.forward_workspace;
    See(live + taped.saved_bytes + workspace);
    return KeptBytes(taped);
  }

  // Returns what a stage took when it ran on a tape last.
  TapedBytes TapedLast(std::size_t i) const { return TapedBytesOf(chain_[i], states_[i]); }

  int64_t Drop(const CheckpointSegment& segment, int64_t live, int64_t input) {
    int64_t beside = 0;  // LiveSkipBytes of the segment
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      beside += MoreBeside(segment.begin, i);
      See(live + input + beside + chain_[i].output_bytes + chain_[i].plain_workspace);
      cost_.seconds += chain_[i].forward_seconds;
      input = chain_[i].output_bytes;
    }
    for (std::size_t v = 0; v < carried_.size(); ++v) {
      if (!IsBeside(carried_[v], segment.begin, segment.end)) continue;
      if (places_[v] == Place::kNone) Put(v, Place::kValue);
    }
    return input;
  }

  // Returns by how much more goes past stage i - 1 than past the one before, of what is made in a
  // run from `begin` on.
  int64_t MoreBeside(std::size_t begin, std::size_t i) const {
    if (i < begin + 2) return 0;
    int64_t bytes = 0;
    for (const std::size_t v : made_.of(i - 2)) bytes += carried_[v].bytes;
    for (const std::size_t v : taken_.of(i - 1)) {
      if (carried_[v].made >= begin) bytes -= carried_[v].bytes;
    }
    return bytes;
  }

  // Values that a segment hands on although they have been taken: they stay until the forward pass
  // that made them again is over.
  int64_t MadeForNothing(const CheckpointSegment& segment) const {
    int64_t bytes = 0;
    for (std::size_t v = 0; v < carried_.size(); ++v) {
      const bool is_taken = places_[v] == Place::kGradient;
      if (is_taken && IsBeside(carried_[v], segment.begin, segment.end)) bytes += carried_[v].bytes;
    }
    return bytes;
  }

  // Backward through [begin, end), `live` with all that the forward pass kept.
  void Back(std::size_t begin, std::size_t end, const CheckpointSegments& segments, int64_t live) {
    std::size_t at = end;
    const CheckpointSegment* behind = nullptr;  // its turn comes when what is behind it is through
    const auto run_behind = [&](std::size_t kept_from) {
      if (behind == nullptr) return;
      live -= chain_[behind->end - 1].output_bytes;
      Run(behind->begin, behind->end, behind->inner, live + InputOf(behind->begin, kept_from));
      at = behind->begin;
    };
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      if (IsAbove()) return;
      if (segment->begin == segment->end) continue;
      run_behind(segment->end);
      for (; at > segment->end; --at) live -= BackOne(at - 1, live, at == end);
      behind = &*segment;
    }
    run_behind(begin);
    for (; at > begin; --at) live -= BackOne(at - 1, live, at == end);
  }

  // Returns what is rematerialized for a segment from i on, where stages [kept_from, i) are kept.
  int64_t InputOf(std::size_t i, std::size_t kept_from) const {
    return i > kept_from ? RowBytes(TapedLast(i - 1)) : 0;
  }

  int64_t BackOne(std::size_t i, int64_t live, bool ends) {
    TakeGradients(i);
    const TapedBytes taped = TapedLast(i);
    const int64_t workspace = ends ? taped.ending_backward_workspace : taped.backward_workspace;
    See(live + chain_[i].output_bytes + workspace);
    cost_.seconds += chain_[i].backward_seconds;
    for (const std::size_t v : taken_.of(i)) Put(v, Place::kGradient);
    return KeptBytes(taped);
  }

  // Gradients of what stage `made` made are from now on those of its output.
  void TakeGradients(std::size_t made) {
    for (const std::size_t v : made_.of(made)) {
      if (places_[v] == Place::kGradient) Put(v, Place::kNone);
    }
  }

  int64_t limit_;
  const std::vector<ChainStage>& chain_;
  const std::vector<SkipConnection>& carried_;
  ByStage made_, taken_;
  std::vector<Place> places_;
  std::vector<RematState> states_;  // of the inputs of stages that ran on a tape
  int64_t waiting_bytes_;
  int64_t carried_bytes_;  // of those that are there, and what waits for the last stage
  ChainCost cost_;
};

}  // namespace

int64_t LiveSkipBytes(const std::vector<SkipConnection>& carried, std::size_t begin,
                      std::size_t i) {
  int64_t bytes = 0;
  for (const SkipConnection& value : carried) {
    if (IsBeside(value, begin, i)) bytes += value.bytes;
  }
  return bytes;
}

Chain PartOf(const Chain& chain, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t i) {
    return chain.stages.begin() + static_cast<std::ptrdiff_t>(i);
  };
  Chain part{{at(begin), at(end)}};
  for (const SkipConnection& value : chain.carried) {
    const std::size_t taken = std::min(value.taken, end);
    if (value.made < begin || value.made + 1 >= taken) continue;
    part.carried.push_back({value.made - begin, taken - begin, value.bytes});
  }
  return part;
}

ChainCost Simulate(const Chain& chain, const CheckpointSegments& segments) {
  return SimulateWithin(chain, segments, std::numeric_limits<int64_t>::max());
}

ChainCost SimulateWithin(const Chain& chain, const CheckpointSegments& segments,
                         int64_t peak_bytes) {
  Simulation simulation(chain, peak_bytes);
  simulation.Run(0, chain.size(), segments, 0);
  return simulation.cost();
}

ChainStage Merge(const Chain& chain) {
  if (chain.stages.empty()) return {};
  ChainStage all;
  all.output_bytes =
      chain.stages.back().output_bytes + LiveSkipBytes(chain.carried, 0, chain.size());
  int64_t forward_peak = 0;
  int64_t ending_peak = 0;
  int64_t plain_peak = 0;
  int64_t backward_peak = 0;
  int64_t ending_backward_peak = 0;
  int64_t kept = 0;
  int64_t input = 0;
  int64_t rematerialized = 0;  // of the input
  RematState state = 0;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const ChainStage& stage = chain.stages[i];
    const int64_t values = LiveSkipBytes(chain.carried, 0, i);
    const int64_t gradients = LiveSkipBytes(chain.carried, 0, i + 1);
    const bool ends = i + 1 == chain.size();
    all.forward_seconds += stage.forward_seconds;
    all.ending_seconds += ends ? stage.ending_seconds : stage.forward_seconds;
    all.backward_seconds += stage.backward_seconds;
    const TapedBytes taped = TapedBytesOf(stage, state);
    const int64_t live = kept + rematerialized + taped.saved_bytes;
    forward_peak = std::max(forward_peak, live + taped.forward_workspace);
    ending_peak =
        std::max(ending_peak, live + (ends ? taped.ending_workspace : taped.forward_workspace));
    plain_peak = std::max(plain_peak, input + values + stage.output_bytes + stage.plain_workspace);
    kept += KeptBytes(taped);
    const int64_t back = kept + stage.output_bytes + gradients;
    backward_peak = std::max(backward_peak, back + taped.backward_workspace);
    ending_backward_peak =
        std::max(ending_backward_peak,
                 back + (ends ? taped.ending_backward_workspace : taped.backward_workspace));
    input = stage.output_bytes;
    rematerialized = taped.rematerialized_bytes;
    all.row_bytes = taped.row_bytes;
    state = OutputState(taped);
  }
  all.output_state = state;
  all.rematerialized_bytes = rematerialized;
  all.saved_bytes = kept + rematerialized;
  all.forward_workspace = forward_peak - all.saved_bytes;
  all.ending_workspace = ending_peak - all.saved_bytes;
  all.plain_workspace = std::max<int64_t>(0, plain_peak - all.output_bytes);
  all.backward_workspace = std::max<int64_t>(0, backward_peak - kept - all.output_bytes);
  all.ending_backward_workspace =
      std::max<int64_t>(0, ending_backward_peak - kept - all.output_bytes);
  return all;
}

}  // namespace frugal
