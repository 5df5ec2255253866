#include "layers/blocks/streams/stream_feed_forward.h"

#include "sdk/ops/gated.h"
#include "sdk/ops/norm/modulation.h"

namespace frugal {
namespace {

constexpr double kEpsilon = 1e-6;

bool IsGated(FeedForwardKind kind) {
  return kind == FeedForwardKind::kGeglu || kind == FeedForwardKind::kSwiglu;
}

// Returns the function of the first product alone; gates are taken behind it.
Activation FunctionOf(FeedForwardKind kind) {
  switch (kind) {
    case FeedForwardKind::kGelu:
      return Activation::kGelu;
    case FeedForwardKind::kGeluTanh:
      return Activation::kGeluTanh;
    case FeedForwardKind::kSiluLinear:
      return Activation::kSilu;
    case FeedForwardKind::kGeglu:
    case FeedForwardKind::kSwiglu:
      break;
  }
  return Activation::kIdentity;
}

}  // namespace

StreamFeedForward::StreamFeedForward(std::int64_t features, const StreamFeedForwardOptions& options)
    : options_(options),
      up_(features, {.units = options.inner * (IsGated(options.kind) ? 2 : 1),
                     .activation = FunctionOf(options.kind),
                     .bias = options.bias}),
      down_(options.inner, {.units = features, .bias = options.bias}) {
  AddChild("net.0.proj", up_);
  AddChild("net.2", down_);
}

std::string StreamFeedForward::Describe() const {
  return "feed-forward, " + up_.Describe() + ", " + down_.Describe();
}

Var StreamFeedForward::Forward(Context& context, const Var& input) {
  const Var inner = up_(context, input);
  if (!IsGated(options_.kind)) return down_(context, inner);
  const bool swiglu = options_.kind == FeedForwardKind::kSwiglu;
  return down_(context,
               Gated(context, inner, swiglu ? Activation::kSilu : Activation::kGelu, true));
}

Var AddFeedForward(Context& context, StreamFeedForward& part, const StreamModulation& modulation,
                   const Var& x) {
  const Var normed =
      ModulatedLayerNorm(context, x, {}, kEpsilon, modulation.shift, modulation.scale);
  return GatedAdd(context, part(context, normed), modulation.gate, x);
}

}  // namespace frugal
