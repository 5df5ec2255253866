#pragma once

#include "sdk/backend/onednn/conv/conv_windows.h"

namespace frugal::onednn {

// The matrix of a convolution's windows in f32: a row for each position of the output, with what
// its window covers of the input, channel by channel, the places of the window innermost as in a
// weight [out, in, kernel...]. With it a convolution is one product (Chellapilla, Puri & Simard,
// High performance convolutional neural networks for document processing, 2006).
class Im2col {
 public:
  explicit Im2col(const ConvGeometry& geometry);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return channels_ * places_; }
  std::int64_t channels() const { return channels_; }  // of the input
  // True where windows are single positions, one after the other: the input is the matrix.
  bool IsInput() const { return is_input_; }

  // Writes rows [first, first + count) of an input's matrix to `to`. zeros [channels].
  void Gather(const float* input, std::int64_t first, std::int64_t count, const float* zeros,
              float* to) const;
  // Adds rows of a matrix to where they were gathered. Each sum has one order, whatever the number
  // of threads. outside [channels] takes what falls off the edges.
  void Scatter(const float* from, std::int64_t first, std::int64_t count, float* outside,
               float* input) const;

 private:
  template <class T>
  void FindPlaces(const Im2colIterator& position, T* input, T* outside, T** places) const;

  WindowPart windows_;  // of all positions
  std::int64_t channels_, places_, rows_;
  bool is_input_;
};

// Windows of more places are not gathered.
inline constexpr std::int64_t kMostPlaces = 64;

}  // namespace frugal::onednn
