#pragma once

#include "layers/architectures/unet/unet_skeleton.h"
#include "layers/architectures/unet/unet_time.h"
#include "layers/architectures/unet/unet_trunk.h"
#include "layers/blocks/transformer_block.h"
#include "sdk/module/network_input.h"

// U-Nets with cross attention and ControlNets have these parts in common.
namespace frugal::architectures {

// Throws ConfigError naming the family and the key.
void CheckTrunk(const char* family, const UNetTrunkConfig& config);

// Returns the sizes without the way up. Throws ConfigError for lists that do not fit.
UNetSizes TrunkSizes(const char* family, const UNetTrunkConfig& config);

// Throws ConfigError where heads do not divide the channels of a stage that attends.
void CheckTrunkHeads(const char* family, const UNetTrunkConfig& config, const UNetSizes& sizes);

UNetMiddle MiddleOf(const UNetTrunkConfig& config);
UNetTimeOptions TrunkTime(const UNetTrunkConfig& config);

// x, t, context, class_labels if there are classes.
NetworkInputs TrunkInputs(const UNetTrunkConfig& config);
// text_embeds and time_ids, if there are any. How the width of the added embedding is divided
// between them is not part of a configuration: plans assume six numbers, or what a text of 1280
// features leaves.
NetworkInputs AddedInputs(const UNetTrunkConfig& config);

// A tuple in the order of TrunkInputs, other inputs, and AddedInputs.
UNetTime::Conditions ConditionsIn(const UNetTrunkConfig& config, const VarTuple& vars);

class TrunkParts final : public UNetParts {
 public:
  TrunkParts(const char* family, const UNetTrunkConfig& config, ContextUse context = {});

  void AppendResnet(Sequential& net, const std::string& path,
                    const ResnetPlace& place) const override;
  void AppendAttention(Sequential& net, const std::string& path,
                       const AttentionPlace& place) const override;
  void AppendDownsampler(Sequential& net, const std::string& path,
                         const DownsamplerPlace& place) const override;
  void AppendUpsampler(Sequential& net, const std::string& path,
                       std::int64_t channels) const override;

 private:
  const UNetTrunkConfig& config_;
  ContextUse context_;
  std::vector<std::int64_t> heads_;
  std::vector<std::int64_t> transformers_;
};

}  // namespace frugal::architectures
