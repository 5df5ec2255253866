#include "layers/architectures/unet/unet_layers.h"

#include <array>
#include <utility>

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"

namespace frugal::architectures {

Var TakeWithSkip(Context& context, Bundle& bundle, SkipUse skips) {
  if (!skips.takes) return std::exchange(bundle[0], Var());
  const std::array<Var, 2> parts = {std::exchange(bundle[0], Var()), PopSkip(bundle)};
  return ConcatOfSaved(context, parts, static_cast<std::int64_t>(parts[0].shape().rank()) - 1);
}

void PutWithSkip(Bundle& bundle, Var x, SkipUse skips) {
  bundle[0] = std::move(x);
  if (skips.leaves) PushSkip(bundle, bundle[0]);
}

Var AsImages(Context& context, const Var& x) {
  const Shape& s = x.shape();
  return s.rank() == 5 ? Reshape(context, x, {s[0] * s[1], s[2], s[3], s[4]}) : x;
}

Var LikeFrames(Context& context, const Var& images, const Shape& x) {
  const Shape& s = images.shape();
  return x.rank() == 5 ? Reshape(context, images, {x[0], x[1], s[1], s[2], s[3]}) : images;
}

Conv2dOptions SameSize(std::int64_t filters) {
  return {.filters = filters, .kernel = {3}, .padding = {1}};
}

UNetResnet::UNetResnet(const ResnetBlockOptions& options, SkipUse skips)
    : block_(options), timed_(options.time_features > 0), skips_(skips) {
  AddChild("", block_);
}

void UNetResnet::ForwardBundle(Context& context, Bundle& bundle) {
  const Var x = TakeWithSkip(context, bundle, skips_);
  PutWithSkip(bundle, block_(context, x, timed_ ? bundle[1] : Var()), skips_);
}

UNetAttention::UNetAttention(const ImageAttentionOptions& options, SkipUse skips)
    : norm_(options.channels, {.groups = options.groups, .epsilon = options.epsilon}),
      attention_(options.channels, {.heads = options.heads, .fused = false},
                 {.query = "to_q", .key = "to_k", .value = "to_v", .output = "to_out.0"}),
      skips_(skips) {
  AddChild("group_norm", norm_);
  AddChild("", attention_);
}

void UNetAttention::ForwardBundle(Context& context, Bundle& bundle) {
  const Var x = TakeWithSkip(context, bundle, skips_);
  const Shape image = x.shape();
  const Shape tokens = {image[0], image[1] * image[2], image[3]};
  Var h = Reshape(context, norm_(context, x), tokens);
  h = RunAndAdd(context, attention_, h, Reshape(context, x, tokens));
  PutWithSkip(bundle, Reshape(context, h, image), skips_);
}

UNetDownsampler::UNetDownsampler(const DownsamplerPlace& place, std::int64_t padding)
    : sampler_(place.inputs, padding, place.outputs), skips_(place.skips) {
  AddChild("", sampler_);
}

void UNetDownsampler::ForwardBundle(Context& context, Bundle& bundle) {
  const Var x = TakeWithSkip(context, bundle, skips_);
  const Var y = sampler_(context, AsImages(context, x));
  PutWithSkip(bundle, LikeFrames(context, y, x.shape()), skips_);
}

UNetUpsampler::UNetUpsampler(std::int64_t channels) : sampler_(channels) { AddChild("", sampler_); }

void UNetUpsampler::ForwardBundle(Context& context, Bundle& bundle) {
  const Var x = std::exchange(bundle[0], Var());
  bundle[0] = LikeFrames(context, sampler_(context, AsImages(context, x)), x.shape());
}

UNetOutput::UNetOutput(const UNetOutputOptions& options)
    : norm_(options.inputs, {.groups = options.groups, .epsilon = options.epsilon}),
      convolution_(options.inputs, [&] {
        Conv2dOptions convolution = SameSize(options.outputs);
        if (options.starts_at_zero) convolution.initializer = Initializer::Zero();
        return convolution;
      }()) {
  AddChild("conv_norm_out", norm_);
  AddChild("conv_out", convolution_);
}

void UNetOutput::ForwardBundle(Context& context, Bundle& bundle) {
  Var x = std::exchange(bundle[0], Var());
  const Shape shape = x.shape();
  bundle.clear();
  x = norm_(context, AsImages(context, x));
  x = Activate(context, x, Activation::kSilu);
  x = convolution_(context, x);
  bundle.push_back(LikeFrames(context, x, shape));
}

}  // namespace frugal::architectures
