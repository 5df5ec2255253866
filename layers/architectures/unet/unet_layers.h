#pragma once

#include <string>
#include <utility>

#include "layers/architectures/unet/unet_skeleton.h"
#include "layers/blocks/image_samplers.h"
#include "layers/blocks/resnet_block.h"
#include "layers/blocks/transformer_block.h"
#include "layers/norms.h"

// The layers of U-Nets over images; samplers and output take videos too. Between them travel x [N,
// H, W, C], c [N, D], the time behind its SiLU, in some the context [N, S, E], and then the skips.
namespace frugal::architectures {

// x without what the tuple still holds of it, and with the last skip's channels behind its own
// where one is taken.
Var TakeWithSkip(Context& context, VarTuple& vars, SkipUse skips);

// vars[0] = x, which is also appended where a skip is left.
void PutWithSkip(VarTuple& vars, Var x, SkipUse skips);

// Frames of videos [N, F, H, W, C] as images [N F, H, W, C]; images as they are.
Var AsImages(Context& context, const Var& x);
// The way back, for images made out of x.
Var LikeFrames(Context& context, const Var& images, const Shape& x);

class UNetResnet final : public TupleLayer {
 public:
  UNetResnet(const ResnetBlockOptions& options, SkipUse skips);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return block_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  ImageResnetBlock block_;
  bool timed_;
  SkipUse skips_;
};

struct ImageAttentionOptions {
  std::int64_t channels = 0;
  std::int64_t heads = 1;
  std::int64_t groups = 32;
  double eps = 1e-5;
};

// x + attention over the pixels of the normed x. Parameters: group_norm, to_q, to_k, to_v,
// to_out.0.
class UNetAttention final : public TupleLayer {
 public:
  UNetAttention(const ImageAttentionOptions& options, SkipUse skips);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return "image " + attention_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  GroupNormLayer norm_;
  AttentionLayer attention_;
  SkipUse skips_;
};

class UNetDownsampler final : public TupleLayer {
 public:
  UNetDownsampler(const DownsamplerPlace& place, std::int64_t padding);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return sampler_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  Downsampler sampler_;
  SkipUse skips_;
};

class UNetUpsampler final : public TupleLayer {
 public:
  explicit UNetUpsampler(std::int64_t channels);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return sampler_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  Upsampler sampler_;
};

// A convolution of 3 x 3 pixels that keeps the size.
Conv2dOptions SameSize(std::int64_t filters);

// A U-Net begins with it: a convolution of the input, and an embedding of what it is conditioned
// on. What travels behind it is up to the family. Parameters: conv_in, then the embedding's.
template <class Embedding>
class UNetStem : public TupleLayer {
 public:
  LayerKind kind() const final { return LayerKind::kConvolution; }
  std::string Describe() const final { return convolution_.Describe() + "; " + conditions_; }

 protected:
  template <class Options>
  UNetStem(std::int64_t inputs, std::int64_t channels, const Options& options,
           std::string conditions)
      : convolution_(inputs, SameSize(channels)),
        embedding_(options),
        conditions_(std::move(conditions)) {
    AddChild("conv_in", convolution_);
    AddChild("", embedding_);
  }

  Conv2d& convolution() { return convolution_; }
  Embedding& embedding() { return embedding_; }

 private:
  Conv2d convolution_;
  Embedding embedding_;
  std::string conditions_;  // in words
};

struct UNetOutputOptions {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t groups = 32;
  double eps = 1e-5;
  bool starts_at_zero = true;
};

// Norm, SiLU, convolution; nothing else is left in the tuple. Takes images, and videos [N, F, H,
// W, C] frame by frame. Parameters: conv_norm_out, conv_out.
class UNetOutput final : public TupleLayer {
 public:
  explicit UNetOutput(const UNetOutputOptions& options);

  LayerKind kind() const override { return LayerKind::kConvolution; }
  std::string Describe() const override { return "norm, silu, " + convolution_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  GroupNormLayer norm_;
  Conv2d convolution_;
};

// Appends it without a name, as the last layer of a network.
void AppendOutput(Sequential& net, const UNetOutputOptions& options);

}  // namespace frugal::architectures
