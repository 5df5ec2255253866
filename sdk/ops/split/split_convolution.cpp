#include "sdk/ops/split/split_convolution.h"

#include "sdk/autograd/saved_tensor.h"
#include "sdk/module/parameter_store.h"
#include "sdk/ops/split/window_exchange.h"
#include "sdk/ops/support/check.h"
#include "sdk/ops/support/convolution_launch.h"

namespace frugal {
namespace {

// The spatial axes of a window over images.
constexpr std::size_t kHeight = 1;
constexpr std::size_t kWidth = 2;

std::int64_t ReachOf(const WindowGeometry& g, std::size_t axis) {
  return g.dilation[axis] * (g.kernel[axis] - 1) + 1;
}

// Then every window meets the image, and no device computes from padding alone.
void CheckPadding(Context& context, const Shape& x, const WindowGeometry& g, std::size_t axis,
                  int parts) {
  const std::int64_t most = std::max(g.padding_begin[axis], g.padding_end[axis]);
  if (parts == 1 || (most < ReachOf(g, axis) && g.input[axis] > 0)) return;
  ThrowShape(context,
             "along an axis that is split, padding is smaller than the kernel's reach of " +
                 std::to_string(ReachOf(g, axis)) + ", not " + std::to_string(most),
             x, "pad by SplitPad before it");
}

// The windows of a device see this along one axis.
struct AxisPart {
  std::int64_t outputs = 0;
  Interval input;  // of the whole image
  std::int64_t padding_begin = 0;
  std::int64_t padding_end = 0;
};

AxisPart AxisPartOf(const WindowGeometry& g, std::size_t axis, int parts, int index) {
  const std::int64_t extent = g.input[axis];
  const Interval outputs = SplitInterval(g.output[axis], parts, index);
  if (parts == 1) {
    return {outputs.size(), {0, extent}, g.padding_begin[axis], g.padding_end[axis]};
  }
  if (outputs.empty()) return {};
  const std::int64_t first = outputs.begin * g.stride[axis] - g.padding_begin[axis];
  const std::int64_t last =
      (outputs.end - 1) * g.stride[axis] - g.padding_begin[axis] + ReachOf(g, axis);
  AxisPart part = {outputs.size(), Intersect(Interval{first, last}, Interval{0, extent})};
  part.padding_begin = part.input.begin - first;
  part.padding_end = last - part.input.end;
  // Own positions behind the last window that are too few for one more may stay: no copy is needed.
  const Interval has = SplitInterval(extent, parts, index);
  const bool may_stay = part.padding_end == 0 && part.input.begin == has.begin && last < has.end &&
                        has.end - last < g.stride[axis];
  if (may_stay) part.input.end = has.end;
  return part;
}

std::vector<Interval> InputsOf(const WindowGeometry& g, std::size_t axis, int parts) {
  std::vector<Interval> inputs;
  inputs.reserve(static_cast<std::size_t>(parts));
  for (int index = 0; index < parts; ++index)
    inputs.push_back(AxisPartOf(g, axis, parts, index).input);
  return inputs;
}

// This device's share of a convolution.
struct SplitCall {
  WindowExchange exchange;
  ConvolutionCall local;  // over this device's window
  bool has_output;

  const SplitLayout& layout() const { return exchange.layout; }
};

SplitCall CallFor(Context& context, const SplitTensor& x, const Parameter& weight,
                  const Parameter* bias, const ConvGeometry& whole) {
  const SplitLayout& layout = x.layout;
  const GridLine& rows = layout.grid.rows;
  const GridLine& columns = layout.grid.columns;
  const WindowGeometry& g = whole.window;
  CheckPadding(context, layout.whole, g, kHeight, rows.parts);
  CheckPadding(context, layout.whole, g, kWidth, columns.parts);
  ConvGeometry local = whole;
  const AxisPart height = AxisPartOf(g, kHeight, rows.parts, rows.index);
  const AxisPart width = AxisPartOf(g, kWidth, columns.parts, columns.index);
  for (const auto& [axis, part] : {std::pair{kHeight, height}, std::pair{kWidth, width}}) {
    local.window.input[axis] = part.input.size();
    local.window.output[axis] = part.outputs;
    local.window.padding_begin[axis] = part.padding_begin;
    local.window.padding_end[axis] = part.padding_end;
  }
  const WindowExchange exchange{layout, InputsOf(g, kHeight, rows.parts),
                                InputsOf(g, kWidth, columns.parts)};
  return {exchange,
          {layout.ShapeOf(exchange.OwnWindow()), x.own.dtype(), &weight, bias, local},
          g.batch * local.window.OutputSize() > 0};
}

Tensor SpaceLike(Context& context, const Tensor& gradient) {
  if (!gradient) return {};
  return context.Allocate(gradient.shape(), gradient.dtype(), MemoryTag::kWorkspace);
}

void Fill(Context& context, const Tensor& tensor) {
  if (!tensor) return;
  context.Launch({OperationKind::kElementwise, BytesOf(tensor)},
                 [&](Backend& backend, void*) { backend.elementwise().Fill(tensor, 0); });
}

void AddTo(Context& context, const Tensor& sum, const Tensor& more) {
  if (!sum) return;
  context.Launch({OperationKind::kElementwise, BytesOf(sum, more, sum)},
                 [&](Backend& backend, void*) { backend.elementwise().Add(sum, more, sum); });
}

// Sums over the grid, in their places or, where earlier contributions are in these, beside them.
void AddWeightGradient(Context& context, const SplitCall& call, const Tensor& x,
                       std::span<const Piece> strips, const Tensor& dy) {
  const ConvolutionCall& local = call.local;
  const AffineTensors total = GradientsOf(context, local.weight, local.bias);
  AffineTensors share = total;
  if (total.accumulate) {
    share = {SpaceLike(context, total.weight), SpaceLike(context, total.bias), false};
  }
  // A trained bias beside a frozen weight: the kernel still wants a place for the latter's.
  if (!share.weight) {
    share.weight =
        context.Allocate(local.weight->shape, context.master_dtype(), MemoryTag::kWorkspace);
  }
  if (call.has_output) {
    const Tensor window = AssembleWindow(context, call.exchange, x, strips);
    LaunchConvolutionBackwardWeight(context, local, window, dy, share);
  } else {
    Fill(context, share.weight);
    Fill(context, share.bias);
  }
  const SplitGrid& grid = call.layout().grid;
  if (total.weight) SumOverGrid(context, grid, share.weight, "gradient of a split convolution");
  if (total.bias) SumOverGrid(context, grid, share.bias, "gradient of a split convolution");
  if (!total.accumulate) return;
  AddTo(context, total.weight, share.weight);
  AddTo(context, total.bias, share.bias);
}

Tensor InputGradient(Context& context, const SplitCall& call, const Tensor& dy) {
  const Tensor window = call.has_output ? LaunchConvolutionBackwardData(context, call.local, dy)
                                        : context.Allocate(call.local.shape, call.local.dtype);
  return ReturnStrips(context, call.exchange, WholePiece(window, call.exchange.OwnWindow()));
}

}  // namespace

SplitTensor SplitConvolution(Context& context, const SplitTensor& x, const Parameter& weight,
                             const Parameter* bias, const WindowOptions& options,
                             std::int64_t groups) {
  CheckSplit(context, x);
  if (x.layout.whole.rank() != 4 || x.layout.row_axis != 1 || x.layout.column_axis != 2) {
    ThrowShape(context, "a split convolution takes images [N, H, W, C] split along H and W",
               x.layout.whole, "split them by SplitImages");
  }
  const ConvGeometry whole = FitConvolution(context, x.layout.whole, weight, options, groups);
  const SplitCall call = CallFor(context, x, weight, bias, whole);
  const SplitLayout to = SplitImages(
      WindowOutputShape(whole.window, x.layout.whole, whole.output_channels), x.layout.grid);
  const Tensor y = context.Allocate(to.OwnShape(), x.own.dtype());
  std::vector<Piece> strips = ReceiveStrips(context, call.exchange, x.own.value);
  if (call.has_output) {
    const Tensor window = AssembleWindow(context, call.exchange, x.own.value, strips);
    LaunchConvolutionForward(context, call.local, window, y);
  }
  const bool trained = IsDifferentiable({}, &weight, bias);
  if (!trained) strips.clear();
  const SavedTensor input = trained ? SavedTensor(context, x.own) : SavedTensor();
  const Var own = context.Record(
      y, IsDifferentiable(x.own, &weight, bias),
      [=, strips = std::move(strips), slot = x.own.slot](Context& ctx, const Tensor& dy) {
        if (trained) {
          ctx.RunDeferred(Deferred::kWeights, [call, x = input.Get(ctx), strips, dy](Context& in) {
            AddWeightGradient(in, call, x, strips, dy);
          });
        }
        if (slot != Var::kNoGradient) ctx.Accumulate(slot, InputGradient(ctx, call, dy));
      });
  return {to, own};
}

}  // namespace frugal
