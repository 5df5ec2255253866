#pragma once

#include <memory>

#include "layers/architectures/unet/unet_layers.h"

// The layers of a U-Net over videos (Blattmann et al., arXiv:2304.08818, section 3.1): each layer
// over images has one over time behind it, and a learned number mixes the two. Between them travel
// x [N, F, H, W, C], c [N, D], the time behind its SiLU, the context [N, S, E], and then the skips.
namespace frugal::architectures {

class VideoResnet final : public TupleLayer {
 public:
  VideoResnet(const ResnetBlockOptions& options, SkipUse skips);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return spatial_.Describe() + ", over time"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  ImageResnetBlock spatial_;
  TemporalResnetBlock temporal_;
  const Parameter& mix_;
  SkipUse skips_;
};

struct VideoTransformerOptions {
  std::int64_t channels = 0;
  std::int64_t heads = 1;
  std::int64_t layers = 1;
  std::int64_t context_features = 0;
};

// Parameters behind `path`: norm, proj_in, time_pos_embed, time_mixer, transformer_blocks and
// temporal_transformer_blocks, proj_out. Each of their layers is one of the network's.
void AppendVideoTransformer(Sequential& net, const std::string& path,
                            const VideoTransformerOptions& options, SkipUse skips);

}  // namespace frugal::architectures
