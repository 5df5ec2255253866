#pragma once

#include "sdk/backend/onednn/operation/operation_key.h"
#include "tests/backend/onednn/onednn_support.h"

// Geometries for the convolutions of ours, and the shapes of their tensors.
namespace frugal::testing {

inline ConvGeometry RandomConvolution(Dice& dice) {
  ConvGeometry g;
  WindowGeometry& w = g.window;
  w.batch = dice.Between(1, 9);
  for (auto a = static_cast<std::size_t>(dice.Between(0, 2)); a < 3; ++a) {
    w.kernel[a] = dice.Between(1, 3);
    w.stride[a] = dice.Between(1, 4);  // also beyond the kernel
    w.dilation[a] = dice.Between(1, 2);
    w.padding_begin[a] = dice.Between(0, 2);
    w.padding_end[a] = dice.Between(0, 2);
    w.input[a] = dice.Between(5, 13);
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    w.output[a] = (w.input[a] + w.padding_begin[a] + w.padding_end[a] - reach) / w.stride[a] + 1;
  }
  g.input_channels = dice.Between(1, 140);
  g.output_channels = dice.Between(1, 140);
  return g;
}

// Square images, windows of `kernel` x `kernel` in the middle of which each output lies.
struct ImageSizes {
  std::int64_t batch, extent, inputs, outputs, kernel = 3, stride = 1;
};
inline ConvGeometry ImageConvolution(const ImageSizes& s) {
  const std::int64_t output = (s.extent - 1) / s.stride + 1, padding = s.kernel / 2;
  ConvGeometry g;
  g.window.batch = s.batch;
  g.window.input = {1, s.extent, s.extent};
  g.window.output = {1, output, output};
  g.window.kernel = {1, s.kernel, s.kernel};
  g.window.stride = {1, s.stride, s.stride};
  g.window.padding_begin = g.window.padding_end = {0, padding, padding};
  g.input_channels = s.inputs;
  g.output_channels = s.outputs;
  return g;
}

inline Shape InputShape(const ConvGeometry& g) {
  const WindowGeometry& w = g.window;
  return {w.batch, w.input[0], w.input[1], w.input[2], g.input_channels};
}
inline Shape OutputShape(const ConvGeometry& g) {
  const WindowGeometry& w = g.window;
  return {w.batch, w.output[0], w.output[1], w.output[2], g.output_channels};
}
inline Shape WeightShape(const ConvGeometry& g) {
  const Spatial& kernel = g.window.kernel;
  return {g.output_channels, g.input_channels, kernel[0], kernel[1], kernel[2]};
}

}  // namespace frugal::testing

#define FRUGAL_CAPTURE_CONVOLUTION(g)                                               \
  CAPTURE((g).window.batch, (g).window.input, (g).window.output, (g).window.kernel, \
          (g).window.stride, (g).window.dilation, (g).window.padding_begin,         \
          (g).window.padding_end, (g).input_channels, (g).output_channels)
