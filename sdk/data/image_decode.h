#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sdk/core/shape.h"

namespace frugal {

// Mean and standard deviation of every channel, of values in [0, 1]; one of each is for all of
// them.
struct Normalization {
  std::vector<double> mean;
  std::vector<double> std;
};

// Turns bytes into numbers: (byte / 255 - mean) / std, by a table of 256 entries, or as many
// per channel, computed in double precision. T is float or double.
template <class T>
class ImageDecoder {
 public:
  // Throws ConfigError unless there are as many means and deviations as channels, or one of each,
  // all finite, and the deviations above zero; or when sample_shape is not [H, W, C].
  ImageDecoder(const Shape& sample_shape, const Normalization& normalization);

  // Decodes sample indices[b] of `samples` [N, H, W, C] to place b of `destination` [B, H, W, C].
  // Throws UsageError for an index outside of the samples or a destination of another size.
  void Decode(std::span<const std::uint8_t> samples, std::span<const std::int64_t> indices,
              std::span<T> destination) const;

 private:
  void DecodeSample(const std::uint8_t* sample, T* destination) const;

  std::size_t sample_size_;
  std::size_t channels_;  // that differ: 1 where all are alike
  std::vector<T> table_;  // [channels_, 256]
};

extern template class ImageDecoder<float>;
extern template class ImageDecoder<double>;

// Throws DataError, with `where` in front, naming the first label that is not below `classes`.
void CheckLabels(const std::string& where, std::span<const std::uint8_t> labels,
                 std::int64_t classes);

// destination[b] = labels[indices[b]]. Throws UsageError as Decode() does.
void DecodeLabels(std::span<const std::uint8_t> labels, std::span<const std::int64_t> indices,
                  std::span<std::int64_t> destination);

}  // namespace frugal
