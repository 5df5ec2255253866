#include "layers/architectures/unet/video_layers.h"

#include <utility>

#include "sdk/ops/activation.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/support/parameter_value.h"

namespace frugal::architectures {
namespace {

ResnetBlockOptions OverTime(ResnetBlockOptions options) {
  options.inputs = options.outputs;
  return options;
}

}  // namespace

VideoResnet::VideoResnet(const ResnetBlockOptions& options, SkipUse skips)
    : spatial_(options),
      temporal_(OverTime(options)),
      mix_(AddParameter("time_mixer.mix_factor", {1}, Initializer::Constant(0.5))),
      skips_(skips) {
  AddChild("spatial_res_block", spatial_);
  AddChild("temporal_res_block", temporal_);
}

void VideoResnet::ForwardTuple(Context& context, VarTuple& vars) {
  Var x = TakeWithSkip(context, vars, skips_);
  const Shape shape = x.shape();
  const Var& c = vars[1];
  x = LikeFrames(context, spatial_(context, AsImages(context, x), c), shape);
  const Var over_time = temporal_(context, x, c);
  const Var alpha = Activate(context, ValueOf(context, mix_), Activation::kSigmoid);
  PutWithSkip(vars, Blend(context, x, over_time, alpha), skips_);
}

}  // namespace frugal::architectures
