#include <array>
#include <utility>

#include "layers/architectures/unet/video_layers.h"
#include "sdk/ops/activation.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/norm/modulation.h"
#include "sdk/ops/rotary.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/parameter_value.h"
#include "sdk/ops/support/precision.h"

// N videos of F frames of P pixels with C channels. Inside of a transformer the tuple ends in what
// its layers share: x as it came in [N, F, H, W, C], features of the frames' numbers [F, C], and
// the share of the spatial branch [1].
namespace frugal::architectures {
namespace {

constexpr std::int64_t kGroups = 32;
constexpr double kEpsilon = 1e-6;

struct Shared {
  const Var& around;
  const Var& positions;
  const Var& alpha;
};

Shared SharedIn(const VarTuple& vars) {
  const std::size_t end = vars.size();
  return {vars[end - 3], vars[end - 2], vars[end - 1]};
}

TransformerBlockOptions BlockOf(const VideoTransformerOptions& options) {
  return {.features = options.channels,
          .heads = options.heads,
          .context_features = options.context_features};
}

// Attention to the context of all of a video's tokens at once: they do not see each other in it.
Var AttendToContext(Context& context, TransformerBlock& block, const Var& x, const Var& memory) {
  const Shape videos = {memory.shape()[0], x.shape().RowCount() / memory.shape()[0],
                        x.shape().back()};
  const Var h = block.CrossAttend(context, Reshape(context, x, videos), memory);
  return Reshape(context, h, x.shape());
}

// {x [N, F, H, W, C], ...} -> {[N F, P, C], ..., and what the layers share}
class VideoTransformerEntrance final : public TupleLayer {
 public:
  explicit VideoTransformerEntrance(const VideoTransformerOptions& options)
      : norm_(options.channels, {.groups = kGroups, .eps = kEpsilon}),
        projection_(options.channels, {.units = options.channels}),
        first_(options.channels, {.units = 4 * options.channels, .activation = Activation::kSilu}),
        second_(4 * options.channels, {.units = options.channels}),
        mix_(AddParameter("time_mixer.mix_factor", {1}, Initializer::Constant(0.5))) {
    AddChild("norm", norm_);
    AddChild("proj_in", projection_);
    AddChild("time_pos_embed.linear_1", first_);
    AddChild("time_pos_embed.linear_2", second_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return "norm, " + projection_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Var x = std::exchange(vars[0], Var());
    const Shape& s = x.shape();
    const Var normed = norm_(context, AsImages(context, x));
    vars[0] = projection_(context, Reshape(context, normed, {s[0] * s[1], s[2] * s[3], s[4]}));
    PushSkip(vars, x);
    vars.push_back(Positions(context, s[1], s[4]));
    vars.push_back(Activate(context, ValueOf(context, mix_), Activation::kSigmoid));
  }

  // Cosines of a frame's number by falling frequencies, then sines, through two products.
  Var Positions(Context& context, std::int64_t frames, std::int64_t features) {
    const RotaryAngles angles = AnglesOf(context, {.positions = frames, .rotary_size = features});
    const std::array<Var, 2> parts = {Var{angles.cosine}, Var{angles.sine}};
    const Var sinusoids = ToActivation(context, Concat(context, parts, 1));
    return second_(context, first_(context, sinusoids));
  }

  GroupNormLayer norm_;
  Dense projection_;
  Dense first_;
  Dense second_;
  const Parameter& mix_;
};

// The block over the pixels of each frame.
class SpatialBlock final : public TupleLayer {
 public:
  explicit SpatialBlock(const VideoTransformerOptions& options) : block_(BlockOf(options)) {
    AddChild("", block_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return block_.Describe() + " of pixels"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    Var h = std::exchange(vars[0], Var());
    h = block_.SelfAttend(context, h, {});
    h = AttendToContext(context, block_, h, vars[2]);
    vars[0] = block_.FeedForward(context, h);
  }

  TransformerBlock block_;
};

// The block over the frames of each pixel, mixed with what it starts from.
class TemporalBlock final : public TupleLayer {
 public:
  explicit TemporalBlock(const VideoTransformerOptions& options)
      : norm_(options.channels, {}), in_(options.channels), block_(BlockOf(options)) {
    AddChild("norm_in", norm_);
    AddChild("ff_in", in_);
    AddChild("", block_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return block_.Describe() + " of frames, mixture"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    const Shared shared = SharedIn(vars);
    const Var x = std::exchange(vars[0], Var());
    const std::int64_t frames = shared.positions.shape()[0];
    const Shape by_frame = {x.shape()[0] / frames, frames, x.shape()[1], x.shape()[2]};
    Var h = ByPixel(context, Reshape(context, x, by_frame), shared.positions);
    h = in_(context, norm_(context, h), h);
    h = block_.SelfAttend(context, h, {});
    h = AttendToContext(context, block_, h, vars[2]);
    h = block_.FeedForward(context, h);
    h = Reshape(context, h, {by_frame[0], by_frame[2], frames, by_frame[3]});
    h = Permute(context, h, {0, 2, 1, 3});
    vars[0] = Blend(context, x, Reshape(context, h, x.shape()), shared.alpha);
  }

  // [N, F, P, C] and positions [F, C] -> their sum, [N P, F, C]
  static Var ByPixel(Context& context, const Var& x, const Var& positions) {
    const Shape& s = x.shape();
    const Var row = Reshape(context, positions, {1, s[1], 1, s[3]});
    const Var h = Permute(context, Arithmetic(context, BinaryKind::kAdd, x, row), {0, 2, 1, 3});
    return Reshape(context, h, {s[0] * s[2], s[1], s[3]});
  }

  LayerNormLayer norm_;
  GegluFeedForward in_;
  TransformerBlock block_;
};

// Projection and sum with x as it came in.
class VideoTransformerExit final : public TupleLayer {
 public:
  VideoTransformerExit(const VideoTransformerOptions& options, SkipUse skips)
      : projection_(options.channels,
                    {.units = options.channels, .initializer = Initializer::Zero()}),
        skips_(skips) {
    AddChild("", projection_);
  }

  LayerKind kind() const override { return LayerKind::kDense; }
  std::string Describe() const override { return projection_.Describe() + ", sum"; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    vars.resize(vars.size() - 2);
    const Var around = PopSkip(vars);
    const Var h = Reshape(context, std::exchange(vars[0], Var()), around.shape());
    PutWithSkip(vars, RunAndAdd(context, projection_, h, around), skips_);
  }

  Dense projection_;
  SkipUse skips_;
};

}  // namespace

void AppendVideoTransformer(Sequential& net, const std::string& path,
                            const VideoTransformerOptions& options, SkipUse skips) {
  net.Append(path, std::make_unique<VideoTransformerEntrance>(options));
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string number = std::to_string(i);
    net.Append(path + ".transformer_blocks." + number, std::make_unique<SpatialBlock>(options));
    net.Append(path + ".temporal_transformer_blocks." + number,
               std::make_unique<TemporalBlock>(options));
  }
  net.Append(path + ".proj_out", std::make_unique<VideoTransformerExit>(options, skips));
}

}  // namespace frugal::architectures
