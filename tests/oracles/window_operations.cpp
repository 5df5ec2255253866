#include "sdk/ops/spatial/pool.h"
#include "sdk/ops/spatial/transposed_convolution.h"
#include "sdk/ops/spatial/upsample.h"
#include "tests/oracles/attribute_text.h"
#include "tests/oracles/operation_table.h"

namespace frugal::oracles {
namespace {

WindowOptions WindowOf(const nlohmann::json& attributes, const Spatial& kernel, std::size_t rank,
                       const nlohmann::json& default_stride = 1) {
  WindowOptions window;
  window.kernel = kernel;
  window.stride = SpatialAttribute(attributes, "stride", rank, 1, default_stride);
  window.dilation = SpatialAttribute(attributes, "dilation", rank, 1, 1);
  const nlohmann::json padding = attributes.value("padding", nlohmann::json(0));
  if (padding == "same") {  // where it is odd, more behind than before
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t both = window.dilation[axis] * (kernel[axis] - 1);
      window.padding_begin[axis] = both / 2;
      window.padding_end[axis] = both - both / 2;
    }
  } else if (padding != "valid") {
    window.padding_begin = SpatialAttribute(attributes, "padding", rank, 0, 0);
    window.padding_end = window.padding_begin;
  }
  return window;
}

// The kernel of a weight [.., .., kernel...].
Spatial KernelOf(const Parameter& weight, std::size_t rank) {
  Spatial kernel{1, 1, 1};
  for (std::size_t i = 0; i < rank; ++i) kernel[3 - rank + i] = weight.shape[2 + i];
  return kernel;
}

Var RunConvolution(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  const Parameter& weight = run.Weight("weight");
  const std::size_t rank = input.shape().rank() - 2;
  return Convolution(run.context(), input, weight, run.WeightIfThere("bias"),
                     WindowOf(run.attributes(), KernelOf(weight, rank), rank),
                     run.attributes().value("groups", 1));
}

Var RunTransposedConvolution(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  const Parameter& weight = run.Weight("weight");
  const std::size_t rank = input.shape().rank() - 2;
  return TransposedConvolution(run.context(), input, weight, run.WeightIfThere("bias"),
                               WindowOf(run.attributes(), KernelOf(weight, rank), rank),
                               SpatialAttribute(run.attributes(), "output_padding", rank, 0, 0),
                               run.attributes().value("groups", 1));
}

// Pads what is left behind the last whole window, if another one begins inside the image.
void RoundUp(const Shape& x, WindowOptions& window) {
  for (std::size_t axis = 0; axis + 2 < x.rank(); ++axis) {
    const std::size_t at = 5 - x.rank() + axis;
    const std::int64_t inside = x[1 + axis] + window.padding_begin[at];
    const std::int64_t reach = window.dilation[at] * (window.kernel[at] - 1) + 1;
    const std::int64_t left = (inside + window.padding_end[at] - reach) % window.stride[at];
    const std::int64_t next = inside + window.padding_end[at] - reach - left + window.stride[at];
    if (left > 0 && next < inside) window.padding_end[at] += window.stride[at] - left;
  }
}

// A pool's stride is its kernel where nothing else is said.
WindowOptions PoolWindowOf(const OracleRun& run, const Var& input) {
  const std::size_t rank = input.shape().rank() - 2;
  const nlohmann::json& kernel = run.attributes().at("kernel");
  WindowOptions window =
      WindowOf(run.attributes(), SpatialAttribute(run.attributes(), "kernel", rank, 1, kernel),
               rank, kernel);
  if (run.attributes().value("ceil_mode", false)) RoundUp(input.shape(), window);
  return window;
}

Var RunMaxPool(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  return MaxPool(run.context(), input, PoolWindowOf(run, input));
}

Var RunAveragePool(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  const WindowOptions window = PoolWindowOf(run, input);
  bool count = run.attributes().value("count_include_pad", true);
  if (!(window.padding_begin == window.padding_end)) {
    // The padding that rounding up adds never counts, and the case's own does.
    if (count && window.padding_begin != Spatial{0, 0, 0}) {
      RefuseAttribute(run, "a mean counts all of its padding or none");
    }
    count = false;
  }
  if (run.attributes().contains("divisor_override")) {
    RefuseAttribute(run, "a mean is divided by how many numbers it is of");
  }
  return AveragePool(run.context(), input, window, count);
}

Var RunAdaptivePool(OracleRun& run) {
  const Var input = run.Input("input", kImage);
  const std::size_t rank = input.shape().rank() - 2;
  return AdaptiveAveragePool(run.context(), input,
                             SpatialAttribute(run.attributes(), "output", rank, 1, nullptr));
}

template <Upsampling kind>
Var RunUpsample(OracleRun& run) {
  if (run.attributes().value("align_corners", false)) {
    RefuseAttribute(run, "bilinear upsampling goes between pixel centres (align_corners = false)");
  }
  const Spatial scale = SpatialAttribute(run.attributes(), "scale", 2, 1, nullptr);
  if (scale[1] != scale[2]) RefuseAttribute(run, "both axes are scaled alike");
  return Upsample(run.context(), run.Input("input", kImage), scale[1], kind);
}

}  // namespace

OperationTable WindowOperations() {
  return {
      {"conv1d", RunConvolution},
      {"conv2d", RunConvolution},
      {"conv3d", RunConvolution},
      {"conv_transpose1d", RunTransposedConvolution},
      {"conv_transpose2d", RunTransposedConvolution},
      {"conv_transpose3d", RunTransposedConvolution},
      {"max_pool2d", RunMaxPool},
      {"avg_pool2d", RunAveragePool},
      {"adaptive_avg_pool2d", RunAdaptivePool},
      {"upsample_nearest2d", RunUpsample<Upsampling::kNearest>},
      {"upsample_bilinear2d", RunUpsample<Upsampling::kBilinear>},
  };
}

}  // namespace frugal::oracles
