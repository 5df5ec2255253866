#pragma once

#include <memory>

#include "layers/architectures/unet/unet_layers.h"
#include "layers/blocks/transformer_block.h"

// A transformer over the pixels of an image and a context, inside a U-Net (Rombach et al.,
// arXiv:2112.10752, appendix E.2.1), as layers of their own, so that plans may cut between them.
namespace frugal::architectures {

struct SpatialTransformerOptions {
  std::int64_t channels = 0;
  std::int64_t heads = 1;
  std::int64_t layers = 1;
  std::int64_t context_features = 0;
  std::int64_t groups = 32;
  bool only_context = false;
  bool linear_projection = false;  // its projections are products, not 1x1 convolutions
  ContextUse context{};
};

// vars[2] is the context [N, S, E]. Parameters behind `path`: norm, proj_in,
// transformer_blocks.0 and on, proj_out.
void AppendSpatialTransformer(Sequential& net, const std::string& path,
                              const SpatialTransformerOptions& options, SkipUse skips);

// Norm and projection of x [N, H, W, C], which goes to the end of the tuple; vars[0] is then
// [N, H W, C].
class TransformerEntrance final : public TupleLayer {
 public:
  explicit TransformerEntrance(const SpatialTransformerOptions& options);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return "norm, " + projection_->Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  GroupNormLayer norm_;
  std::unique_ptr<Layer> projection_;
};

// Projection and sum with the last of the tuple, in whose shape it comes out.
class TransformerExit final : public TupleLayer {
 public:
  TransformerExit(const SpatialTransformerOptions& options, SkipUse skips);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return projection_->Describe() + ", sum"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  std::unique_ptr<Layer> projection_;
  SkipUse skips_;
};

}  // namespace frugal::architectures
