#include "sdk/data/image_decode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr std::size_t kLevels = 256;

void CheckShape(const Shape& shape) {
  const bool positive =
      std::ranges::all_of(shape.extents(), [](auto extent) { return extent > 0; });
  if (shape.rank() == 3 && positive) return;
  throw ConfigError({.where = "images",
                     .required = "the shape of a sample is [height, width, channels]",
                     .given = ToString(shape) + " was given",
                     .advice = {}});
}

void CheckNormalization(std::size_t channels, const Normalization& normalization) {
  const auto& [mean, deviation] = normalization;
  if (mean.size() != deviation.size() || (mean.size() != channels && mean.size() != 1)) {
    throw ConfigError({.where = "normalization of images",
                       .required = "there is a mean and a standard deviation for each of " +
                                   std::to_string(channels) + " channels, or one for all",
                       .given = std::to_string(mean.size()) + " and " +
                                std::to_string(deviation.size()) + " were given",
                       .advice = {}});
  }
  const auto finite = [](double value) { return std::isfinite(value); };
  const auto usable = [](double value) { return std::isfinite(value) && value > 0; };
  if (std::ranges::all_of(mean, finite) && std::ranges::all_of(deviation, usable)) return;
  throw ConfigError({.where = "normalization of images",
                     .required = "means are finite, and standard deviations above zero",
                     .given = "one of them is not",
                     .advice = "give mean 0 and std 1 to leave values in [0, 1]"});
}

[[noreturn]] void RefuseImage(std::string required, std::int64_t given) {
  throw UsageError({.where = "decoding a batch",
                    .required = std::move(required),
                    .given = FormatCount(given) + " was given",
                    .advice = {}});
}

void CheckIndices(std::span<const std::int64_t> indices, std::size_t samples) {
  for (const std::int64_t index : indices) {
    if (std::cmp_less(index, 0) || std::cmp_greater_equal(index, samples)) {
      RefuseImage("an index is below " + FormatCount(static_cast<std::int64_t>(samples)), index);
    }
  }
}

void CheckSize(std::size_t wanted, std::size_t given) {
  if (wanted == given) return;
  RefuseImage("the destination has " + FormatCount(static_cast<std::int64_t>(wanted)) + " elements",
              static_cast<std::int64_t>(given));
}

}  // namespace

template <class T>
ImageDecoder<T>::ImageDecoder(const Shape& sample_shape, const Normalization& normalization) {
  CheckShape(sample_shape);
  sample_size_ = static_cast<std::size_t>(sample_shape.ElementCount());
  CheckNormalization(static_cast<std::size_t>(sample_shape.back()), normalization);
  channels_ = normalization.mean.size();
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      const double value = static_cast<double>(level) / 255.0 - normalization.mean[channel];
      table_.push_back(static_cast<T>(value / normalization.std[channel]));
    }
  }
}

template <class T>
void ImageDecoder<T>::DecodeSample(const std::uint8_t* sample, T* destination) const {
  for (std::size_t at = 0; at < sample_size_; at += channels_) {
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      destination[at + channel] = table_[channel * kLevels + sample[at + channel]];
    }
  }
}

template <class T>
void ImageDecoder<T>::Decode(std::span<const std::uint8_t> samples,
                             std::span<const std::int64_t> indices,
                             std::span<T> destination) const {
  CheckIndices(indices, samples.size() / sample_size_);
  CheckSize(indices.size() * sample_size_, destination.size());
  for (std::size_t place = 0; place < indices.size(); ++place) {
    const auto index = static_cast<std::size_t>(indices[place]);
    DecodeSample(samples.data() + index * sample_size_, destination.data() + place * sample_size_);
  }
}

template class ImageDecoder<float>;
template class ImageDecoder<double>;

void CheckLabels(const std::string& where, std::span<const std::uint8_t> labels,
                 std::int64_t classes) {
  const auto wrong =
      std::ranges::find_if(labels, [&](std::uint8_t label) { return label >= classes; });
  if (wrong == labels.end()) return;
  throw DataError(
      {.where = where,
       .required = "labels are below the number of classes, " + std::to_string(classes),
       .given = "label " + FormatCount(wrong - labels.begin()) + " is " + std::to_string(*wrong),
       .advice = "correct the number of classes, or name the right file"});
}

void DecodeLabels(std::span<const std::uint8_t> labels, std::span<const std::int64_t> indices,
                  std::span<std::int64_t> destination) {
  CheckIndices(indices, labels.size());
  CheckSize(indices.size(), destination.size());
  for (std::size_t place = 0; place < indices.size(); ++place) {
    destination[place] = labels[static_cast<std::size_t>(indices[place])];
  }
}

}  // namespace frugal
