#pragma once

#include <vector>

#include "sdk/backend/onednn/conv/im2col_iterator.h"

namespace frugal::onednn {

// A place of the window, by its number, and where its channels lie from a position of the source.
struct WindowPlace {
  std::int64_t number;
  Spatial offset;
};

// Positions of a convolution's result that read the same places of the window: grids of as many
// positions, one by one, over the result and over what is read.
struct WindowPart {
  WindowGrid result, source;
  Spatial first;  // where the first position lies in the result
  std::vector<WindowPlace> places;

  std::int64_t Positions(std::int64_t batch) const { return batch * result.PerSample(); }
};

// The output's positions, in one part.
std::vector<WindowPart> OutputParts(const ConvGeometry& geometry);
// The input's, which read the gradient of the output: a part for each way in which windows lie
// over a position, stride[0] * stride[1] * stride[2] of them, some without any place.
std::vector<WindowPart> InputParts(const ConvGeometry& geometry);

}  // namespace frugal::onednn
