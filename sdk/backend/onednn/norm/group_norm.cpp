#include <algorithm>
#include <array>
#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/onednn/norm/moments.h"
#include "sdk/backend/onednn/norm/norm.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/operation/partial_rows.h"

// One sample at a time: sums per channel over the positions, folded into groups, then one pass
// with coefficients per channel. Samples go to different threads; a single one is cut into pieces.
namespace frugal {
namespace {

using eigen::DataOrNull;
using onednn::Moments;

constexpr std::int64_t kMost = OneDnnNormKernels::kMostChannels;
using Row = std::array<float, static_cast<std::size_t>(kMost)>;

bool IsOurs(const GroupNormGeometry& g, DType dtype) {
  return onednn::IsFast(dtype) && g.batch * g.size * g.channels > 0 && g.channels <= kMost;
}

// The positions of one sample in so many fixed pieces that their sums fit the stack.
struct Pieces {
  static constexpr std::int64_t kStackFloats = 4 * kMost;
  std::int64_t size, channels, piece_size;
  explicit Pieces(const GroupNormGeometry& g)
      : size(g.size), channels(g.channels), piece_size(PieceSize(g)) {}
  static std::int64_t PieceSize(const GroupNormGeometry& g) {
    const std::int64_t most = std::min<std::int64_t>(32, kStackFloats / g.channels);
    return std::max(eigen::RowsPerChunk(g.channels), (g.size + most - 1) / most);
  }
  std::int64_t count() const { return (size + piece_size - 1) / piece_size; }
  std::int64_t length(std::int64_t piece) const {
    return std::min(size, (piece + 1) * piece_size) - piece * piece_size;
  }
  // body(piece, offset of its first element, positions)
  template <class Body>
  void ForEach(const Body& body) const {
    eigen::ParallelFor(count(), 1, [&](std::int64_t piece, std::int64_t) {
      body(piece, piece * piece_size * channels, length(piece));
    });
  }
};

struct Sums {
  std::array<float, static_cast<std::size_t>(Pieces::kStackFloats)> first, second;
};

struct Statistics {
  float *mean, *rstd;  // of one sample, per group
};

template <class T>
void FindStatistics(const GroupNormGeometry& g, const simd::NormLoops<T>& loops, const T* x,
                    double epsilon, Statistics out) {
  const Pieces pieces(g);
  Sums sums;
  pieces.ForEach([&](std::int64_t piece, std::int64_t offset, std::int64_t length) {
    Row shift;
    for (std::int64_t c = 0; c < g.channels; ++c) {
      shift[static_cast<std::size_t>(c)] = static_cast<float>(x[offset + c]);
    }
    loops.column_moments(x + offset, length, g.channels, shift.data(),
                         sums.first.data() + piece * g.channels,
                         sums.second.data() + piece * g.channels);
  });
  const std::int64_t width = g.channels / g.groups;
  for (std::int64_t group = 0; group < g.groups; ++group) {
    Moments all;
    for (std::int64_t piece = 0; piece < pieces.count(); ++piece) {
      const T* const shift = x + piece * pieces.piece_size * g.channels;
      const auto length = static_cast<double>(pieces.length(piece));
      for (std::int64_t c = group * width; c < (group + 1) * width; ++c) {
        const auto at = static_cast<std::size_t>(piece * g.channels + c);
        all.Add(Moments::FromSums(length, static_cast<float>(shift[c]), sums.first[at],
                                  sums.second[at]));
      }
    }
    out.mean[group] = static_cast<float>(all.mean);
    out.rstd[group] = static_cast<float>(1.0 / std::sqrt(all.Variance() + epsilon));
  }
}

template <class T>
void NormalizeSample(const GroupNormGeometry& g, const simd::NormLoops<T>& loops, const T* x,
                     const float* weight, const float* bias, Statistics given, T* y) {
  Row mean, scale, offset;
  const std::int64_t width = g.channels / g.groups;
  for (std::int64_t c = 0; c < g.channels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    mean[i] = given.mean[c / width];
    scale[i] = given.rstd[c / width] * (weight != nullptr ? weight[c] : 1.0f);
    offset[i] = bias != nullptr ? bias[c] : 0.0f;
  }
  Pieces(g).ForEach([&](std::int64_t, std::int64_t at, std::int64_t length) {
    loops.normalize(x + at, length, g.channels, mean.data(), scale.data(), offset.data(), false,
                    y + at);
  });
}

void ExpandMean(const GroupNormGeometry& g, Statistics given, Row& mean) {
  const std::int64_t width = g.channels / g.groups;
  for (std::int64_t c = 0; c < g.channels; ++c) {
    mean[static_cast<std::size_t>(c)] = given.mean[c / width];
  }
}

// sum[c] of dy, product[c] of dy (x - mean), over the positions of one sample
template <class T>
void GradientSums(const GroupNormGeometry& g, const simd::NormLoops<T>& loops, const T* dy,
                  const T* x, const Row& mean, float* sum, float* product) {
  const Pieces pieces(g);
  Sums sums;
  pieces.ForEach([&](std::int64_t piece, std::int64_t at, std::int64_t length) {
    loops.gradient_moments(dy + at, x + at, {}, length, g.channels, mean.data(),
                           sums.first.data() + piece * g.channels,
                           sums.second.data() + piece * g.channels);
  });
  for (std::int64_t c = 0; c < g.channels; ++c) {
    double first = 0, second = 0;
    for (std::int64_t piece = 0; piece < pieces.count(); ++piece) {
      first += static_cast<double>(sums.first[static_cast<std::size_t>(piece * g.channels + c)]);
      second += static_cast<double>(sums.second[static_cast<std::size_t>(piece * g.channels + c)]);
    }
    sum[c] = static_cast<float>(first);
    product[c] = static_cast<float>(second);
  }
}

// With h = weight dy and n the elements of a group:
//   dx = rstd (h - sum(h) / n - (x - mean) rstd^2 sum(h (x - mean)) / n)
template <class T>
void SampleGradient(const GroupNormGeometry& g, const simd::NormLoops<T>& loops, const T* dy,
                    const T* x, const float* weight, Statistics given, const Row& mean,
                    const float* sum, const float* product, T* dx) {
  Row a, b, constant;
  const std::int64_t width = g.channels / g.groups;
  const double inverse = 1.0 / static_cast<double>(width * g.size);
  for (std::int64_t group = 0; group < g.groups; ++group) {
    double sums = 0, products = 0;
    for (std::int64_t c = group * width; c < (group + 1) * width; ++c) {
      const double w = weight != nullptr ? static_cast<double>(weight[c]) : 1.0;
      sums += w * static_cast<double>(sum[c]);
      products += w * static_cast<double>(product[c]);
    }
    const double s = given.rstd[group];
    for (std::int64_t c = group * width; c < (group + 1) * width; ++c) {
      const auto i = static_cast<std::size_t>(c);
      a[i] = static_cast<float>(s * (weight != nullptr ? static_cast<double>(weight[c]) : 1.0));
      b[i] = static_cast<float>(-s * s * s * products * inverse);
      constant[i] = static_cast<float>(-s * sums * inverse);
    }
  }
  Pieces(g).ForEach([&](std::int64_t, std::int64_t at, std::int64_t length) {
    loops.normalize_gradient(dy + at, x + at, {}, length, g.channels, mean.data(), a.data(),
                             b.data(), constant.data(), dx + at);
  });
}

// to[c] = or += sum over the samples of table[sample, c] (times rstd of its group)
void AddSamples(const GroupNormGeometry& g, const float* table, const float* rstd, bool accumulate,
                float* to) {
  const std::int64_t width = g.channels / g.groups;
  for (std::int64_t c = 0; c < g.channels; ++c) {
    double sum = accumulate ? static_cast<double>(to[c]) : 0.0;
    for (std::int64_t n = 0; n < g.batch; ++n) {
      const double factor =
          rstd != nullptr ? static_cast<double>(rstd[n * g.groups + c / width]) : 1.0;
      sum += factor * static_cast<double>(table[n * g.channels + c]);
    }
    to[c] = static_cast<float>(sum);
  }
}

Statistics Sample(const GroupNormGeometry& g, const Tensor& mean, const Tensor& rstd,
                  std::int64_t n) {
  return {mean.data<float>() + n * g.groups, rstd.data<float>() + n * g.groups};
}

}  // namespace

void OneDnnNormKernels::GroupForward(const GroupNormGeometry& g, const Tensor& x,
                                     const Tensor& weight, const Tensor& bias, double epsilon,
                                     const Tensor& y, const Tensor& mean, const Tensor& rstd) {
  if (!IsOurs(g, x.dtype())) {
    EigenNormKernels::GroupForward(g, x, weight, bias, epsilon, y, mean, rstd);
    return;
  }
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const simd::NormLoops<T>& loops = loops_.Of<T>().norm;
    eigen::ParallelFor(g.batch, 1, [&](std::int64_t n, std::int64_t) {
      const std::int64_t at = n * g.size * g.channels;
      const Statistics statistics = Sample(g, mean, rstd, n);
      FindStatistics(g, loops, x.data<T>() + at, epsilon, statistics);
      NormalizeSample(g, loops, x.data<T>() + at, DataOrNull<float>(weight),
                      DataOrNull<float>(bias), statistics, y.data<T>() + at);
    });
  });
}

void OneDnnNormKernels::GroupNormalize(const GroupNormGeometry& g, const Tensor& x,
                                       const Tensor& weight, const Tensor& bias, const Tensor& mean,
                                       const Tensor& rstd, const Tensor& y) {
  if (!IsOurs(g, x.dtype())) {
    EigenNormKernels::GroupNormalize(g, x, weight, bias, mean, rstd, y);
    return;
  }
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const simd::NormLoops<T>& loops = loops_.Of<T>().norm;
    eigen::ParallelFor(g.batch, 1, [&](std::int64_t n, std::int64_t) {
      const std::int64_t at = n * g.size * g.channels;
      NormalizeSample(g, loops, x.data<T>() + at, DataOrNull<float>(weight),
                      DataOrNull<float>(bias), Sample(g, mean, rstd, n), y.data<T>() + at);
    });
  });
}

// Two tables [N, C] of sums.
std::int64_t OneDnnNormKernels::GroupBackwardScratch(const GroupNormGeometry& g,
                                                     DType dtype) const {
  if (!IsOurs(g, dtype)) return EigenNormKernels::GroupBackwardScratch(g, dtype);
  return 2 * g.batch * g.channels * SizeOf(DType::kF32);
}

void OneDnnNormKernels::GroupBackward(const GroupNormGeometry& g, const Tensor& dy, const Tensor& x,
                                      const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                      const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                                      bool accumulate, void* scratch) {
  if (!IsOurs(g, x.dtype())) {
    EigenNormKernels::GroupBackward(g, dy, x, mean, rstd, weight, dx, dweight, dbias, accumulate,
                                    scratch);
    return;
  }
  float* const sums = static_cast<float*>(scratch);
  float* const products = sums + g.batch * g.channels;
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const simd::NormLoops<T>& loops = loops_.Of<T>().norm;
    eigen::ParallelFor(g.batch, 1, [&](std::int64_t n, std::int64_t) {
      const std::int64_t at = n * g.size * g.channels;
      const Statistics given = Sample(g, mean, rstd, n);
      float *const sum = sums + n * g.channels, *const product = products + n * g.channels;
      Row center;
      ExpandMean(g, given, center);
      GradientSums(g, loops, dy.data<T>() + at, x.data<T>() + at, center, sum, product);
      if (!dx) return;
      SampleGradient(g, loops, dy.data<T>() + at, x.data<T>() + at, DataOrNull<float>(weight),
                     given, center, sum, product, dx.data<T>() + at);
    });
  });
  if (dweight) AddSamples(g, products, rstd.data<float>(), accumulate, dweight.data<float>());
  if (dbias) AddSamples(g, sums, nullptr, accumulate, dbias.data<float>());
}

}  // namespace frugal
