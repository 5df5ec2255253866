#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/norm/norm.h"
#include "sdk/backend/eigen/norm/normalize_columns.h"

namespace frugal {
namespace eigen {
namespace {

// Adjacent groups of one image that together fill a block of columns, or one wide group. Within it
// either all columns fit one block, or all have the same statistics.
struct Piece {
  std::int64_t image;
  std::int64_t first_group;
  std::int64_t groups;
  std::int64_t width;  // channels of a group

  std::int64_t Columns() const { return groups * width; }
  std::int64_t FirstChannel() const { return first_group * width; }
};

using PerColumn = std::array<double, kColumnBlock>;

// body(piece); few pieces run one after the other, each over all threads.
template <class Body>
void ForEachPiece(const GroupNormGeometry& g, const Body& body) {
  const std::int64_t width = g.channels / g.groups;
  const std::int64_t together = std::max<std::int64_t>(1, kColumnBlock / width);
  const std::int64_t blocks = (g.groups + together - 1) / together;
  const std::int64_t pieces = g.batch * blocks;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * together;
      body(Piece{i / blocks, first, std::min(together, g.groups - first), width});
    }
  };
  constexpr std::int64_t kMany = 8;
  ParallelFor(pieces, pieces >= kMany ? 1 : std::max<std::int64_t>(1, pieces), run);
}

// The statistic of each column's group, for the columns of any one block of the piece.
template <class T>
PerColumn Spread(const Piece& piece, const GroupNormGeometry& g, const T* statistic) {
  PerColumn columns;
  const T* own = statistic + piece.image * g.groups + piece.first_group;
  const std::int64_t count = std::min(kColumnBlock, piece.Columns());
  for (std::int64_t j = 0; j < count; ++j) {
    columns[static_cast<std::size_t>(j)] = static_cast<double>(own[j / piece.width]);
  }
  return columns;
}

// Sums term(x - center) over each group; store(group within the piece, sum).
template <class T, class Term, class Store>
void SumGroups(const Piece& piece, const GroupNormGeometry& g, const T* x, const PerColumn& center,
               const Term& term, const Store& store) {
  PerColumn sums{};
  SumColumns<1>(
      g.size, piece.Columns(),
      [&](std::int64_t row, std::int64_t first, std::int64_t count, double* out) {
        const T* in = x + row * g.channels + first;
        const double* middle = center.data();
#pragma omp simd
        for (std::int64_t j = 0; j < count; ++j) {
          out[j] += term(static_cast<double>(in[j]) - middle[j]);
        }
      },
      [&](std::int64_t column, const std::array<double, 1>& sum) {
        sums[static_cast<std::size_t>(column / piece.width)] += sum[0];
      });
  for (std::int64_t i = 0; i < piece.groups; ++i) store(i, sums[static_cast<std::size_t>(i)]);
}

template <class T>
void Statistics(const Piece& piece, const GroupNormGeometry& g, const T* x, double epsilon, T* mean,
                T* rstd) {
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, g.size * piece.width));
  const std::int64_t first = piece.image * g.groups + piece.first_group;
  SumGroups(
      piece, g, x, PerColumn{}, [](double value) { return value; },
      [&](std::int64_t i, double sum) { mean[first + i] = static_cast<T>(sum * share); });
  SumGroups(
      piece, g, x, Spread(piece, g, mean), [](double value) { return value * value; },
      [&](std::int64_t i, double sum) {
        rstd[first + i] = static_cast<T>(1 / std::sqrt(sum * share + epsilon));
      });
}

std::int64_t StartOf(const GroupNormGeometry& g, const Piece& piece) {
  return piece.image * g.size * g.channels + piece.FirstChannel();
}

template <class T>
void Normalize(const GroupNormGeometry& g, const Piece& piece, const Tensor& x,
               const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd,
               const Tensor& y) {
  const T* scale = DataOrNull<T>(weight);
  const T* shift = DataOrNull<T>(bias);
  const std::int64_t channel = piece.FirstChannel(), at = StartOf(g, piece);
  NormalizeColumns<T>(
      x.data<T>() + at, g.size, piece.Columns(), g.channels, false,
      [&](std::int64_t c) {
        const std::int64_t group = piece.image * g.groups + piece.first_group + c / piece.width;
        return ForwardCoefficients<T>{mean.data<T>()[group],
                                      rstd.data<T>()[group] * ValueOr(scale, channel + c, 1),
                                      ValueOr(shift, channel + c, 0)};
      },
      y.data<T>() + at);
}

struct BackwardArguments {
  const Tensor& dy;
  const Tensor& x;
  const Tensor& mean;
  const Tensor& rstd;
};

// Sums dy and dy xhat of every channel of the piece over its image: totals[2 c], totals[2 c + 1].
template <class T>
void GradientSums(const GroupNormGeometry& g, const Piece& piece, const BackwardArguments& a,
                  double* totals) {
  const PerColumn center = Spread(piece, g, a.mean.data<T>());
  const PerColumn inverse = Spread(piece, g, a.rstd.data<T>());
  const std::int64_t start = StartOf(g, piece);
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    const T* dy = a.dy.data<T>() + start + row * g.channels + first;
    const T* x = a.x.data<T>() + start + row * g.channels + first;
    const double* middle = center.data();
    const double* factor = inverse.data();
    double* products = sums + kColumnBlock;
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) {
      const auto gradient = static_cast<double>(dy[j]);
      sums[j] += gradient;
      products[j] += gradient * ((static_cast<double>(x[j]) - middle[j]) * factor[j]);
    }
  };
  SumColumns<2>(g.size, piece.Columns(), add_row,
                [&](std::int64_t column, const std::array<double, 2>& sums) {
                  totals[2 * column] = sums[0];
                  totals[2 * column + 1] = sums[1];
                });
}

// dx = rstd (weight dy - mean(weight dy) - xhat mean(weight dy xhat)), the means over a group.
template <class T>
void BackwardData(const GroupNormGeometry& g, const Piece& piece, const BackwardArguments& a,
                  const T* weight, const double* sums, T* dx) {
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, g.size * piece.width));
  PerColumn offset{};  // per group of the piece
  PerColumn slope{};
  for (std::int64_t c = 0; c < piece.Columns(); ++c) {
    const auto i = static_cast<std::size_t>(c / piece.width);
    const auto scale = static_cast<double>(ValueOr(weight, piece.FirstChannel() + c, 1));
    offset[i] += scale * sums[2 * c] * share;
    slope[i] += scale * sums[2 * c + 1] * share;
  }
  const std::int64_t at = StartOf(g, piece);
  const auto gradient = [&](std::int64_t row, std::int64_t first, std::int64_t, T*) {
    return a.dy.data<T>() + at + row * g.channels + first;
  };
  GradientColumns<T>(
      gradient, a.x.data<T>() + at, g.size, piece.Columns(), g.channels,
      [&](std::int64_t c) {
        const std::int64_t own = c / piece.width;
        const std::int64_t group = piece.image * g.groups + piece.first_group + own;
        const T inverse = a.rstd.data<T>()[group];
        return BackwardCoefficients<T>{
            a.mean.data<T>()[group], inverse * ValueOr(weight, piece.FirstChannel() + c, 1),
            inverse * static_cast<T>(offset[static_cast<std::size_t>(own)]),
            inverse * inverse * static_cast<T>(slope[static_cast<std::size_t>(own)])};
      },
      dx + at);
}

template <class T>
void Backward(const GroupNormGeometry& g, const BackwardArguments& a, const Tensor& weight,
              const Tensor& dx, const Tensor& dweight, const Tensor& dbias, bool accumulate,
              double* sums) {
  const T* scale = DataOrNull<T>(weight);
  ForEachPiece(g, [&](const Piece& piece) {
    double* own = sums + 2 * (piece.image * g.channels + piece.FirstChannel());
    GradientSums<T>(g, piece, a, own);
    if (dx) BackwardData<T>(g, piece, a, scale, own, dx.data<T>());
  });
  for (std::int64_t c = 0; c < g.channels; ++c) {
    double shift_sum = 0;
    double scale_sum = 0;
    for (std::int64_t image = 0; image < g.batch; ++image) {
      shift_sum += sums[2 * (image * g.channels + c)];
      scale_sum += sums[2 * (image * g.channels + c) + 1];
    }
    StoreSum(DataOrNull<T>(dbias), c, shift_sum, accumulate);
    StoreSum(DataOrNull<T>(dweight), c, scale_sum, accumulate);
  }
}

}  // namespace
}  // namespace eigen

void EigenNormKernels::GroupForward(const GroupNormGeometry& g, const Tensor& x,
                                    const Tensor& weight, const Tensor& bias, double epsilon,
                                    const Tensor& y, const Tensor& mean, const Tensor& rstd) {
  eigen::WithFloating("group norm", x.dtype(), [&]<class T>() {
    eigen::ForEachPiece(g, [&](const eigen::Piece& piece) {
      eigen::Statistics(piece, g, x.data<T>() + eigen::StartOf(g, piece), epsilon, mean.data<T>(),
                        rstd.data<T>());
      eigen::Normalize<T>(g, piece, x, weight, bias, mean, rstd, y);
    });
  });
}

void EigenNormKernels::GroupNormalize(const GroupNormGeometry& g, const Tensor& x,
                                      const Tensor& weight, const Tensor& bias, const Tensor& mean,
                                      const Tensor& rstd, const Tensor& y) {
  eigen::WithFloating("group norm", x.dtype(), [&]<class T>() {
    eigen::ForEachPiece(g, [&](const eigen::Piece& piece) {
      eigen::Normalize<T>(g, piece, x, weight, bias, mean, rstd, y);
    });
  });
}

std::int64_t EigenNormKernels::GroupBackwardScratch(const GroupNormGeometry& g,
                                                    DType /*dtype*/) const {
  return 2 * g.batch * g.channels * SizeOf(DType::kF64);
}

void EigenNormKernels::GroupBackward(const GroupNormGeometry& g, const Tensor& dy, const Tensor& x,
                                     const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                     const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                                     bool accumulate, void* scratch) {
  eigen::WithFloating("group norm backward", x.dtype(), [&]<class T>() {
    eigen::Backward<T>(g, {dy, x, mean, rstd}, weight, dx, dweight, dbias, accumulate,
                       static_cast<double*>(scratch));
  });
}

}  // namespace frugal
