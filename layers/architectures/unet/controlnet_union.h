#pragma once

#include "layers/architectures/unet/controlnet.h"

namespace frugal {

// Keys of diffusers' ControlNetUnionModel; control_types is what it takes with each call as
// control_type_idx.
struct ControlNetUnionConfig : ControlNetConfig {
  std::int64_t num_control_type = 6;
  std::vector<std::int64_t> control_types = {0};  // of the hints, in their order; each once
  // The transformer that the hints go through has these sizes; its two numbers of channels are
  // those of the first stage.
  std::int64_t num_trans_channel = 320;
  std::int64_t num_proj_channel = 320;
  std::int64_t num_trans_head = 8;
  std::int64_t num_trans_layer = 1;
};

// One ControlNet for hints of several types, one or more of them at a time (ControlNet++,
// github.com/xinsir6/ControlNetPlus), as in diffusers' ControlNetUnionModel. Inputs: those of
// MakeControlNet, with a hint for each of control_types ("hint_3" of type 3) and behind the hints
// control_type [N, num_control_type], 1 for the types that are given and 0 for the others: it goes
// into the time's embedding. Output as MakeControlNet's.
//
// Samples of one batch see each other, as in the published model (see ControlFusion): batches in
// parts, such as `accumulate` makes, give other numbers, and a plan within a budget makes none.
//
// Throws ConfigError for sizes that do not fit and types that there are not.
std::unique_ptr<Sequential> MakeControlNetUnion(const ControlNetUnionConfig& config);

}  // namespace frugal
