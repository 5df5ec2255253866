#include "sdk/capture/calls/call_fields.h"

#include <array>
#include <string>

namespace frugal {
namespace {

void VisitSpatial(CallVisitor& visitor, std::string_view name, Spatial& spatial) {
  Shape shape(std::span<const std::int64_t>(spatial.data(), spatial.size()));
  visitor.Attribute(name, shape);
  for (std::size_t i = 0; i < spatial.size() && i < shape.rank(); ++i) spatial[i] = shape[i];
}

void VisitWindow(CallVisitor& visitor, WindowGeometry& window) {
  visitor.Attribute("batch", window.batch);
  VisitSpatial(visitor, "input", window.input);
  VisitSpatial(visitor, "output", window.output);
  VisitSpatial(visitor, "kernel", window.kernel);
  VisitSpatial(visitor, "stride", window.stride);
  VisitSpatial(visitor, "padding_begin", window.padding_begin);
  VisitSpatial(visitor, "padding_end", window.padding_end);
  VisitSpatial(visitor, "dilation", window.dilation);
}

}  // namespace

std::span<const std::string_view> ChoicesOf(Activation) {
  static const auto names = [] {
    std::array<std::string_view, kActivationCount> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = NameOf(static_cast<Activation>(i));
    return all;
  }();
  return names;
}

std::span<const std::string_view> ChoicesOf(WeightLayout) {
  static constexpr auto kNames = std::to_array<std::string_view>({"out_in", "in_out"});
  return kNames;
}

std::span<const std::string_view> ChoicesOf(Regression) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"mse", "l1", "huber", "bce_with_logits"});
  return kNames;
}

std::span<const std::string_view> ChoicesOf(RowLossKind) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"regression", "hinge", "kl_divergence", "cosine", "triplet"});
  return kNames;
}

std::span<const std::string_view> ChoicesOf(BinaryKind) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"add", "subtract", "multiply", "divide", "greater"});
  return kNames;
}

std::span<const std::string_view> ChoicesOf(UnaryKind) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"log", "sqrt", "abs", "pow", "clamp", "shift"});
  return kNames;
}

std::span<const std::string_view> ChoicesOf(RotaryPairing) {
  static constexpr auto kNames = std::to_array<std::string_view>({"halves", "neighbours"});
  return kNames;
}

void VisitFields(CallVisitor& visitor, ConvGeometry& g) {
  VisitWindow(visitor, g.window);
  visitor.Attribute("input_channels", g.input_channels);
  visitor.Attribute("output_channels", g.output_channels);
  visitor.Attribute("groups", g.groups);
}

void VisitFields(CallVisitor& visitor, PoolGeometry& g) {
  VisitWindow(visitor, g.window);
  visitor.Attribute("channels", g.channels);
  visitor.Attribute("count_padding", g.count_padding);
}

void VisitFields(CallVisitor& visitor, GroupNormGeometry& g) {
  visitor.Attribute("batch", g.batch);
  visitor.Attribute("size", g.size);
  visitor.Attribute("channels", g.channels);
  visitor.Attribute("groups", g.groups);
}

void VisitFields(CallVisitor& visitor, AttentionGeometry& g) {
  visitor.Attribute("batch", g.batch);
  visitor.Attribute("query_length", g.query_length);
  visitor.Attribute("key_length", g.key_length);
  visitor.Attribute("heads", g.heads);
  visitor.Attribute("key_heads", g.key_heads);
  visitor.Attribute("head_size", g.head_size);
  visitor.Attribute("scale", g.scale);
  visitor.Attribute("causal", g.causal);
}

void VisitFields(CallVisitor& visitor, RotaryGeometry& g) {
  visitor.Attribute("offset", g.offset);
  visitor.Attribute("heads", g.heads);
  visitor.Attribute("head_size", g.head_size);
  visitor.Attribute("rotary_size", g.rotary_size);
  visitor.Attribute("pairing", g.pairing);
}

void VisitFields(CallVisitor& visitor, LinearEpilogue& epilogue) {
  visitor.Attribute("activation", epilogue.activation);
  visitor.Attribute("parameter", epilogue.parameter);
}

void VisitFields(CallVisitor& visitor, UnaryFunction& f) {
  visitor.Attribute("kind", f.kind);
  visitor.Attribute("a", f.a);
  visitor.Attribute("b", f.b);
}

void VisitFields(CallVisitor& visitor, std::string_view prefix, StridedView& box) {
  const std::string begin(prefix);
  visitor.Attribute(begin + "offset", box.offset);
  Shape strides(std::span<const std::int64_t>(box.strides.data(), box.strides.size()));
  visitor.Attribute(begin + "strides", strides);
  for (std::size_t i = 0; i < strides.rank(); ++i) box.strides[i] = strides[i];
}

void VisitFields(CallVisitor& visitor, LossKernels::CrossEntropyOptions& options) {
  visitor.Attribute("label_smoothing", options.label_smoothing);
  visitor.Attribute("ignore_index", options.ignore_index);
  visitor.Attribute("classes", options.classes);
}

void VisitFields(CallVisitor& visitor, LossKernels::WeightedCrossEntropyOptions& options) {
  visitor.Attribute("label_smoothing", options.label_smoothing);
  visitor.Attribute("ignore_index", options.ignore_index);
  visitor.Attribute("focusing", options.focusing);
  visitor.Input("class_weights", options.class_weights);
  visitor.Input("sample_weights", options.sample_weights);
}

void VisitFields(CallVisitor& visitor, RowLoss& loss) {
  visitor.Attribute("kind", loss.kind);
  visitor.Attribute("regression", loss.regression);
  visitor.Attribute("delta", loss.delta);
  visitor.Attribute("margin", loss.margin);
  visitor.Attribute("divisor", loss.divisor);
  visitor.Input("sample_weights", loss.sample_weights);
}

void VisitFields(CallVisitor& visitor, CtcOptions& options) {
  visitor.Attribute("blank", options.blank);
  visitor.Attribute("padding", options.padding);
  visitor.Attribute("zero_infinity", options.zero_infinity);
  visitor.Input("sample_weights", options.sample_weights);
}

void VisitHeads(CallVisitor& visitor, std::string_view name, HeadsView& heads) {
  visitor.Attribute(std::string(name) + "_offset", heads.offset);
  visitor.Input(name, heads.tensor);
}

void VisitHeadGradients(CallVisitor& visitor, std::string_view name, HeadsView& heads,
                        std::int64_t width) {
  visitor.Attribute(std::string(name) + "_offset", heads.offset);
  TensorPart part;
  if (heads.tensor) {
    const Shape& shape = heads.tensor.shape();
    part.extents = {shape.RowCount(), width};
    part.box = {.offset = heads.offset, .strides = {shape.back(), 1}};
  }
  visitor.Written(name, heads.tensor, part, false);
}

double FlopsOf(const ConvGeometry& g) {
  const std::int64_t channels = g.input_channels / g.groups;  // that each output reads
  return 2.0 * static_cast<double>(g.window.batch * g.window.OutputSize() * g.output_channels) *
         static_cast<double>(g.window.KernelSize() * channels);
}

double ProductFlopsOf(const AttentionGeometry& g) {
  const double all = 2.0 * static_cast<double>(g.batch * g.heads * g.head_size) *
                     static_cast<double>(g.query_length * g.key_length);
  return g.causal ? all / 2 : all;
}

}  // namespace frugal
