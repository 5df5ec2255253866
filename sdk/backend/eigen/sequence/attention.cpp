#include "sdk/backend/eigen/sequence/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/common/row_exponentials.h"
#include "sdk/backend/eigen/matmul/gemm.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace eigen {
namespace {

constexpr std::int64_t kTile = 64;  // queries, and keys

// Positions [begin, end) of one head.
struct Range {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

template <class T>
Matrix<T> HeadRows(const HeadsView& view, const AttentionGeometry& g, std::int64_t batch,
                   std::int64_t head, Range range) {
  const Shape& shape = view.tensor.shape();  // [B, T, row]
  const std::int64_t first = (batch * shape[1] + range.begin) * shape[2] + view.offset;
  return {view.tensor.data<T>() + first + head * g.head_size, range.size(), g.head_size, shape[2]};
}

template <class T>
Matrix<const T> Read(const Matrix<T>& m) {
  return {m.data, m.rows, m.columns, m.stride};
}

template <class T>
void Clear(const Matrix<T>& m) {
  for (std::int64_t i = 0; i < m.rows; ++i) std::fill_n(m.data + i * m.stride, m.columns, T{0});
}

// The part of a mask [1 or B, 1 or H, 1 or Tq, Tk] that belongs to a batch and head.
template <class T>
const T* MaskOf(const Tensor& mask, std::int64_t batch, std::int64_t head) {
  if (!mask) return nullptr;
  const Shape& shape = mask.shape();
  const std::int64_t plane = (shape[0] == 1 ? 0 : batch) * shape[1] + (shape[1] == 1 ? 0 : head);
  return mask.data<T>() + plane * shape[2] * shape[3];
}

struct Arguments {
  AttentionGeometry g;
  HeadsView q, k, v;
  Tensor mask;
};

// A tile of queries of one head.
struct Queries {
  std::int64_t batch, head, key_head;
  Range range;

  // Returns the index of the first of them in [B, H, Tq].
  std::int64_t Index(const AttentionGeometry& g) const {
    return (batch * g.heads + head) * g.query_length + range.begin;
  }
};

Queries QueriesAt(const AttentionGeometry& g, std::int64_t batch, std::int64_t head,
                  std::int64_t first) {
  const std::int64_t end = std::min(first + kTile, g.query_length);
  return {batch, head, head / (g.heads / g.key_heads), {first, end}};
}

template <class T>
Matrix<T> RowsOf(const HeadsView& view, const AttentionGeometry& g, const Queries& queries) {
  return HeadRows<T>(view, g, queries.batch, queries.head, queries.range);
}
// Returns what those queries see of k, v or their gradients.
template <class T>
Matrix<T> KeyRowsOf(const HeadsView& view, const AttentionGeometry& g, const Queries& queries,
                    Range keys) {
  return HeadRows<T>(view, g, queries.batch, queries.key_head, keys);
}

// body(keys) for tiles of the keys that some of these queries see, in order
template <class Body>
void ForKeyTiles(const AttentionGeometry& g, Range queries, const Body& body) {
  const std::int64_t end =
      g.causal ? std::min(g.key_length, queries.end + g.key_length - g.query_length) : g.key_length;
  for (std::int64_t first = 0; first < end; first += kTile) {
    body(Range{first, std::min(first + kTile, end)});
  }
}

// scores [queries, keys] = scale q k^T + mask, -infinity where causality hides a key
template <class T>
void Scores(const Arguments& a, const Queries& queries, Range keys, Matrix<T> scores) {
  const AttentionGeometry& g = a.g;
  MultiplyTransposedRight<T>(Read(RowsOf<T>(a.q, g, queries)),
                             Read(KeyRowsOf<T>(a.k, g, queries, keys)), scores, false);
  const T* const mask = MaskOf<T>(a.mask, queries.batch, queries.head);
  const std::int64_t mask_row = mask == nullptr || a.mask.shape()[2] == 1 ? 0 : g.key_length;
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    const std::int64_t query = queries.range.begin + i;
    T* const row = scores.data + i * scores.stride;
    for (std::int64_t j = 0; j < scores.columns; ++j) {
      const std::int64_t key = keys.begin + j;
      row[j] *= static_cast<T>(g.scale);
      if (mask != nullptr) row[j] += mask[query * mask_row + key];
      // A mask of the lowest finite number is meant as -infinity, and would leave nothing of q k^T.
      const bool masked = row[j] < std::numeric_limits<T>::lowest() * std::numbers::ln2_v<T>;
      if (masked || (g.causal && key > query + g.key_length - g.query_length)) {
        row[j] = -std::numeric_limits<T>::infinity();
      }
    }
  }
}

// Softmax of one query over the keys so far: largest score and sum of exp(score - largest).
template <class T>
struct RowState {
  T largest = -std::numeric_limits<T>::infinity();
  double sum = 0;

  // Turns scores into exp(score - largest); returns what earlier sums are to be multiplied by.
  T Add(T* scores, std::int64_t count) {
    const T before = largest;
    largest = std::max(before, RowMaximum(scores, count));
    const T taken = largest == -std::numeric_limits<T>::infinity() ? T{0} : largest;
    const T factor = std::exp(before - taken);
    sum *= static_cast<double>(factor);
    for (std::int64_t j = 0; j < count; ++j) {
      scores[j] = std::exp(scores[j] - taken);
      sum += static_cast<double>(scores[j]);
    }
    return factor;
  }
  T LogSumExp() const { return largest + static_cast<T>(std::log(sum)); }
};

template <class T>
void ScaleRow(const Matrix<T>& m, std::int64_t row, T factor) {
  for (std::int64_t c = 0; c < m.columns; ++c) m.data[row * m.stride + c] *= factor;
}

template <class T>
void ForwardTile(const Arguments& a, const Queries& queries, const Tensor& y,
                 const Tensor& log_sum_exp, T* scratch) {
  const AttentionGeometry& g = a.g;
  const Matrix<T> out = RowsOf<T>({y, 0}, g, queries);
  std::array<RowState<T>, kTile> states;
  Clear(out);
  ForKeyTiles(g, queries.range, [&](Range keys) {
    const Matrix<T> scores{scratch, out.rows, keys.size(), kTile};
    Scores(a, queries, keys, scores);
    for (std::int64_t i = 0; i < out.rows; ++i) {
      auto& state = states[static_cast<std::size_t>(i)];
      ScaleRow(out, i, state.Add(scores.data + i * kTile, keys.size()));
    }
    Multiply<T>(Read(scores), Read(KeyRowsOf<T>(a.v, g, queries, keys)), out, true);
  });
  T* const sums = log_sum_exp.data<T>() + queries.Index(g);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const RowState<T>& state = states[static_cast<std::size_t>(i)];
    sums[i] = state.LogSumExp();
    if (state.sum != 0) ScaleRow(out, i, static_cast<T>(1 / state.sum));
  }
}

struct Gradients {
  Tensor dy, y, log_sum_exp;
  HeadsView dq, dk, dv;
};

// Row sums of a b.
template <class T>
std::array<T, kTile> RowDots(const Matrix<T>& a, const Matrix<T>& b) {
  std::array<T, kTile> sums{};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t c = 0; c < a.columns; ++c) {
      sum += static_cast<double>(a.data[i * a.stride + c] * b.data[i * b.stride + c]);
    }
    sums[static_cast<std::size_t>(i)] = static_cast<T>(sum);
  }
  return sums;
}

// A row of scores becomes p = exp(score - log_sum_exp), one of gradients scale p (gradient -
// delta).
template <class T>
void SoftmaxGradient(T log_sum_exp, T delta, T scale, std::int64_t count, T* scores, T* gradients) {
  const bool none = log_sum_exp == -std::numeric_limits<T>::infinity();
  for (std::int64_t j = 0; j < count; ++j) {
    scores[j] = none ? T{0} : std::exp(scores[j] - log_sum_exp);
    gradients[j] = scale * scores[j] * (gradients[j] - delta);
  }
}

// Adds to dq, dk and dv what one tile of queries gives.
template <class T>
void BackwardTile(const Arguments& a, const Gradients& given, const Queries& queries, T* scratch) {
  const AttentionGeometry& g = a.g;
  const Matrix<T> q = RowsOf<T>(a.q, g, queries), dq = RowsOf<T>(given.dq, g, queries);
  const Matrix<T> dy = RowsOf<T>({given.dy, 0}, g, queries);
  const std::array<T, kTile> deltas = RowDots(dy, RowsOf<T>({given.y, 0}, g, queries));
  const T* const sums = given.log_sum_exp.data<T>() + queries.Index(g);
  ForKeyTiles(g, queries.range, [&](Range keys) {
    const auto of_keys = [&](const HeadsView& view) {
      return KeyRowsOf<T>(view, g, queries, keys);
    };
    const Matrix<T> p{scratch, q.rows, keys.size(), kTile};
    const Matrix<T> slopes{scratch + kTile * kTile, q.rows, keys.size(), kTile};
    Scores(a, queries, keys, p);
    MultiplyTransposedRight<T>(Read(dy), Read(of_keys(a.v)), slopes, false);
    for (std::int64_t i = 0; i < q.rows; ++i) {
      SoftmaxGradient(sums[i], deltas[static_cast<std::size_t>(i)], static_cast<T>(g.scale),
                      keys.size(), p.data + i * kTile, slopes.data + i * kTile);
    }
    MultiplyTransposedLeft<T>(Read(p), Read(dy), of_keys(given.dv), true);
    MultiplyTransposedLeft<T>(Read(slopes), Read(q), of_keys(given.dk), true);
    Multiply<T>(Read(slopes), Read(of_keys(a.k)), dq, true);
  });
}

// All query heads that share one key head, one after another.
template <class T>
void BackwardKeyHead(const Arguments& a, const Gradients& given, std::int64_t batch,
                     std::int64_t key_head, T* scratch) {
  const AttentionGeometry& g = a.g;
  const std::int64_t group = g.heads / g.key_heads;
  Clear(HeadRows<T>(given.dk, g, batch, key_head, {0, g.key_length}));
  Clear(HeadRows<T>(given.dv, g, batch, key_head, {0, g.key_length}));
  for (std::int64_t head = key_head * group; head < (key_head + 1) * group; ++head) {
    Clear(HeadRows<T>(given.dq, g, batch, head, {0, g.query_length}));
    for (std::int64_t first = 0; first < g.query_length; first += kTile) {
      BackwardTile(a, given, QueriesAt(g, batch, head, first), scratch);
    }
  }
}

constexpr std::int64_t kTwoTiles = 2 * kTile * kTile;  // per thread

template <class T>
T* OwnTiles(void* scratch) {
  return static_cast<T*>(scratch) + kTwoTiles * ThreadNumber();
}

std::int64_t ScratchBytes(DType dtype) { return kTwoTiles * SizeOf(dtype) * ThreadCount(); }

}  // namespace
}  // namespace eigen

std::int64_t EigenAttentionKernels::ForwardScratch(const AttentionGeometry& /*g*/,
                                                   DType dtype) const {
  return eigen::ScratchBytes(dtype);
}

void EigenAttentionKernels::Forward(const AttentionGeometry& g, const HeadsView& q,
                                    const HeadsView& k, const HeadsView& v, const Tensor& mask,
                                    const Tensor& y, const Tensor& log_sum_exp, void* scratch) {
  eigen::WithFloating("attention", y.dtype(), [&]<class T>() {
    const eigen::Arguments arguments{g, q, k, v, mask};
    const std::int64_t tiles = (g.query_length + eigen::kTile - 1) / eigen::kTile;
    eigen::ParallelFor(g.batch * g.heads * tiles, 1, [&](std::int64_t item, std::int64_t) {
      const std::int64_t head = item / tiles;
      const auto queries =
          eigen::QueriesAt(g, head / g.heads, head % g.heads, item % tiles * eigen::kTile);
      eigen::ForwardTile(arguments, queries, y, log_sum_exp, eigen::OwnTiles<T>(scratch));
    });
  });
}

std::int64_t EigenAttentionKernels::BackwardScratch(const AttentionGeometry& /*g*/,
                                                    DType dtype) const {
  return eigen::ScratchBytes(dtype);
}

void EigenAttentionKernels::Backward(const AttentionGeometry& g, const Tensor& dy,
                                     const HeadsView& q, const HeadsView& k, const HeadsView& v,
                                     const Tensor& mask, const Tensor& y, const Tensor& log_sum_exp,
                                     const HeadsView& dq, const HeadsView& dk, const HeadsView& dv,
                                     void* scratch) {
  eigen::WithFloating("attention backward", y.dtype(), [&]<class T>() {
    const eigen::Arguments arguments{g, q, k, v, mask};
    const eigen::Gradients gradients{dy, y, log_sum_exp, dq, dk, dv};
    eigen::ParallelFor(g.batch * g.key_heads, 1, [&](std::int64_t item, std::int64_t) {
      eigen::BackwardKeyHead(arguments, gradients, item / g.key_heads, item % g.key_heads,
                             eigen::OwnTiles<T>(scratch));
    });
  });
}

}  // namespace frugal
