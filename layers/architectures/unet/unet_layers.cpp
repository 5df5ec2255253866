#include "layers/architectures/unet/unet_layers.h"

#include <array>
#include <utility>

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/shape_ops.h"

namespace frugal::architectures {

Var TakeWithSkip(Context& context, VarTuple& vars, SkipUse skips) {
  if (!skips.takes) return std::exchange(vars[0], Var());
  const std::array<Var, 2> parts = {std::exchange(vars[0], Var()), PopSkip(vars)};
  return ConcatOfSaved(context, parts, static_cast<std::int64_t>(parts[0].shape().rank()) - 1);
}

void PutWithSkip(VarTuple& vars, Var x, SkipUse skips) {
  vars[0] = std::move(x);
  if (skips.leaves) PushSkip(vars, vars[0]);
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

void UNetResnet::ForwardTuple(Context& context, VarTuple& vars) {
  const Var x = TakeWithSkip(context, vars, skips_);
  PutWithSkip(vars, block_(context, x, timed_ ? vars[1] : Var()), skips_);
}

UNetAttention::UNetAttention(const ImageAttentionOptions& options, SkipUse skips)
    : norm_(options.channels, {.groups = options.groups, .eps = options.eps}),
      attention_(options.channels, {.heads = options.heads, .fused = false},
                 {.query = "to_q", .key = "to_k", .value = "to_v", .output = "to_out.0"}),
      skips_(skips) {
  AddChild("group_norm", norm_);
  AddChild("", attention_);
}

void UNetAttention::ForwardTuple(Context& context, VarTuple& vars) {
  const Var x = TakeWithSkip(context, vars, skips_);
  const Shape image = x.shape();
  const Shape tokens = {image[0], image[1] * image[2], image[3]};
  Var h = Reshape(context, norm_(context, x), tokens);
  h = RunAndAdd(context, attention_, h, Reshape(context, x, tokens));
  PutWithSkip(vars, Reshape(context, h, image), skips_);
}

UNetDownsampler::UNetDownsampler(const DownsamplerPlace& place, std::int64_t padding)
    : sampler_(place.inputs, padding, place.outputs), skips_(place.skips) {
  AddChild("", sampler_);
}

void UNetDownsampler::ForwardTuple(Context& context, VarTuple& vars) {
  const Var x = TakeWithSkip(context, vars, skips_);
  const Var y = sampler_(context, AsImages(context, x));
  PutWithSkip(vars, LikeFrames(context, y, x.shape()), skips_);
}

UNetUpsampler::UNetUpsampler(std::int64_t channels) : sampler_(channels) { AddChild("", sampler_); }

void UNetUpsampler::ForwardTuple(Context& context, VarTuple& vars) {
  const Var x = std::exchange(vars[0], Var());
  vars[0] = LikeFrames(context, sampler_(context, AsImages(context, x)), x.shape());
}

UNetOutput::UNetOutput(const UNetOutputOptions& options)
    : norm_(options.inputs, {.groups = options.groups, .eps = options.eps}),
      convolution_(options.inputs, [&] {
        Conv2dOptions convolution = SameSize(options.outputs);
        if (options.starts_at_zero) convolution.initializer = Initializer::Zero();
        return convolution;
      }()) {
  AddChild("conv_norm_out", norm_);
  AddChild("conv_out", convolution_);
}

void UNetOutput::ForwardTuple(Context& context, VarTuple& vars) {
  Var x = std::exchange(vars[0], Var());
  const Shape shape = x.shape();
  vars.clear();
  x = norm_(context, AsImages(context, x));
  x = Activate(context, x, Activation::kSilu);
  x = convolution_(context, x);
  vars.push_back(LikeFrames(context, x, shape));
}

void AppendOutput(Sequential& net, const UNetOutputOptions& options) {
  net.AppendUnnamed("output", std::make_unique<UNetOutput>(options));
}

}  // namespace frugal::architectures
