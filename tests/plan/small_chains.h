#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "sdk/plan/chain.h"

namespace frugal::testing {

// All results of its stages are made again too, and none by what is behind.
inline Chain MakingAll(Chain chain) {
  for (ChainStage& stage : chain.stages) {
    stage.ending_seconds = stage.forward_seconds;
    stage.ending_workspace = stage.forward_workspace;
    stage.ending_backward_workspace = stage.backward_workspace;
  }
  return chain;
}

inline Chain RandomChain(std::size_t count, std::uint64_t seed, std::int64_t scale) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  Chain chain{std::vector<ChainStage>(count)};
  for (ChainStage& stage : chain.stages) {
    stage.forward_seconds = static_cast<double>(draw(1, 20));
    stage.backward_seconds = static_cast<double>(draw(1, 40));
    stage.output_bytes = draw(1, 9) * scale;
    stage.saved_bytes = stage.output_bytes + draw(0, 20) * scale;
    stage.forward_workspace = draw(0, 6) * scale;
    stage.plain_workspace = draw(0, 8) * scale;
    stage.backward_workspace = draw(0, 12) * scale;
  }
  for (ChainStage& stage : chain.stages) {
    const bool leaves_half = &stage != &chain.stages.back() && draw(0, 1) == 1;
    stage.ending_seconds = (leaves_half ? 0.5 : 1) * stage.forward_seconds;
    stage.ending_workspace = leaves_half ? stage.forward_workspace / 2 : stage.forward_workspace;
    const bool rematerializes = draw(0, 2) == 0;
    stage.rematerialized_bytes = rematerializes ? stage.output_bytes : 0;
  }
  for (ChainStage& stage : chain.stages) {
    const bool rematerializes = stage.rematerialized_bytes > 0;
    stage.ending_backward_workspace =
        rematerializes ? draw(0, 12) * scale : stage.backward_workspace;
  }
  return chain;
}

// With stages that free their inputs, which the stages before them keep no longer than that.
inline Chain WithFreedInputs(Chain chain) {
  for (std::size_t i = 1; i < chain.size(); i += 2) {
    if (chain.stages[i - 1].rematerialized_bytes > 0) continue;
    const std::int64_t input = chain.stages[i - 1].output_bytes;
    chain.stages[i].saved_bytes -= input;
    chain.stages[i].forward_workspace += input;
    chain.stages[i].ending_workspace += input;
  }
  return chain;
}

// With outputs that are sums, of which so many in a row are rematerialized and the next is kept.
inline Chain WithSumsInRows(Chain chain, RematState most) {
  for (std::size_t i = 0; i < chain.size(); ++i) {
    ChainStage& stage = chain.stages[i];
    stage.rematerialized_bytes = stage.output_bytes;
    stage.output_state = 1;
    if (i == 0) continue;
    for (RematState input = 1; input <= most; ++input) {
      TapedBytes taped = TapedBytesOf(stage, 0);
      taped.output_state = input < most ? input + 1 : 0;
      if (input == most) taped.rematerialized_bytes = 0;
      taped.backward_workspace += static_cast<std::int64_t>(input);
      taped.ending_backward_workspace += static_cast<std::int64_t>(2 * input);
      stage.by_input_state.push_back(taped);
    }
  }
  return chain;
}

// With blocks of so many equal stages: 0 leaves them as they are.
inline Chain WithEqualBlocks(Chain chain, std::size_t length) {
  for (std::size_t i = length; length > 0 && i < chain.size(); ++i) {
    chain.stages[i] = chain.stages[i - length];
  }
  return chain;
}

// With values carried around the middle, each from one stage to the one that mirrors it, as a
// U-Net's skips are.
inline Chain WithSkips(Chain chain, std::size_t skips) {
  for (std::size_t i = 0; i < skips && 2 * i + 3 <= chain.size(); ++i) {
    chain.carried.push_back({i, chain.size() - 1 - i, chain.stages[i].output_bytes});
  }
  return chain;
}

// Every list of segments over [begin, end), with every list inside each. A segment that holds
// nothing but itself would only run once more, and is left out.
inline std::vector<CheckpointSegments> AllSchedules(std::size_t begin, std::size_t end) {
  if (begin == end) return {{}};
  std::vector<CheckpointSegments> all = AllSchedules(begin + 1, end);  // the first stage is kept
  for (std::size_t stop = begin + 1; stop <= end; ++stop) {
    const auto rests = AllSchedules(stop, end);
    std::vector<CheckpointSegments> inners = AllSchedules(begin + 1, stop);
    for (std::size_t middle = begin + 1; middle < stop; ++middle) {
      for (const CheckpointSegments& inner : AllSchedules(begin, middle)) {
        for (const CheckpointSegments& rest : AllSchedules(middle, stop)) {
          if (inner.size() != 1) continue;
          if (inner.front().begin != begin || inner.front().end != middle) continue;
          CheckpointSegments one = {{begin, middle, inner.front().inner}};
          one.insert(one.end(), rest.begin(), rest.end());
          inners.push_back(std::move(one));
        }
      }
    }
    for (const CheckpointSegments& inner : inners) {
      for (const CheckpointSegments& rest : rests) {
        CheckpointSegments one = {{begin, stop, inner}};
        one.insert(one.end(), rest.begin(), rest.end());
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

}  // namespace frugal::testing
