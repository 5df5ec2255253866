#include "layers/architectures/unet/unet_transformer.h"

#include <utility>

#include "sdk/ops/elementwise.h"

namespace frugal::architectures {
namespace {

constexpr double kEpsilon = 1e-6;

std::unique_ptr<Layer> PointwiseOf(const SpatialTransformerOptions& options,
                                   std::optional<Initializer> initializer) {
  if (options.linear_projection) {
    return std::make_unique<Dense>(
        options.channels, DenseOptions{.units = options.channels, .initializer = initializer});
  }
  return std::make_unique<Conv2d>(
      options.channels,
      Conv2dOptions{.filters = options.channels, .kernel = {1}, .initializer = initializer});
}

// {x [N, T, C], c, context, ...}
class TransformerLayer final : public TupleLayer {
 public:
  explicit TransformerLayer(const SpatialTransformerOptions& options)
      : block_({.features = options.channels,
                .heads = options.heads,
                .context_features = options.context_features,
                .only_context = options.only_context,
                .context = options.context}) {
    AddChild("", block_);
  }

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override { return block_.Describe(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override {
    vars[0] = block_(context, std::exchange(vars[0], Var()), vars[2]);
  }

  TransformerBlock block_;
};

}  // namespace

TransformerEntrance::TransformerEntrance(const SpatialTransformerOptions& options)
    : norm_(options.channels, {.groups = options.groups, .eps = kEpsilon}),
      projection_(PointwiseOf(options, std::nullopt)) {
  AddChild("norm", norm_);
  AddChild("proj_in", *projection_);
}

void TransformerEntrance::ForwardTuple(Context& context, VarTuple& vars) {
  const Var x = std::exchange(vars[0], Var());
  const Shape& image = x.shape();
  const Var h = (*projection_)(context, norm_(context, x));
  vars[0] = Reshape(context, h, {image[0], image[1] * image[2], image[3]});
  PushSkip(vars, x);
}

TransformerExit::TransformerExit(const SpatialTransformerOptions& options, SkipUse skips)
    : projection_(PointwiseOf(options, Initializer::Zero())), skips_(skips) {
  AddChild("", *projection_);
}

void TransformerExit::ForwardTuple(Context& context, VarTuple& vars) {
  const Var around = PopSkip(vars);
  const Var h = Reshape(context, std::exchange(vars[0], Var()), around.shape());
  PutWithSkip(vars, RunAndAdd(context, *projection_, h, around), skips_);
}

void AppendSpatialTransformer(Sequential& net, const std::string& path,
                              const SpatialTransformerOptions& options, SkipUse skips) {
  net.Append(path, std::make_unique<TransformerEntrance>(options));
  for (std::int64_t i = 0; i < options.layers; ++i) {
    net.Append(path + ".transformer_blocks." + std::to_string(i),
               std::make_unique<TransformerLayer>(options));
  }
  net.Append(path + ".proj_out", std::make_unique<TransformerExit>(options, skips));
}

}  // namespace frugal::architectures
