#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "sdk/backend/attention_kernels.h"
#include "tests/backend/onednn/onednn_support.h"

// Attention by its formula in double precision, and what a kernel makes of the same numbers.
namespace frugal::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Tells whether q, k and v are three tensors or lie in one.
enum class Layout { kApart, kTogether };

enum class MaskForm { kNone, kOne, kPerBatch, kPerHead, kFull, kOfKeys };

struct AttentionCase {
  AttentionGeometry g;
  MaskForm mask = MaskForm::kNone;
  Layout layout = Layout::kApart;
  double range = 1;  // of the elements of q, k, v and dy
};

struct AttentionTensors {
  HeadsView q, k, v;
  Tensor mask, dy;
};

// Each of batch, position, head and element in one number.
struct HeadIndex {
  const AttentionGeometry& g;
  std::int64_t length, heads;
  std::size_t operator()(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t i) const {
    return static_cast<std::size_t>(((b * length + t) * heads + h) * g.head_size + i);
  }
  std::size_t size() const {
    return static_cast<std::size_t>(g.batch * length * heads * g.head_size);
  }
};

struct AttentionResults {
  std::vector<double> y, log_sum_exp;  // [B, Tq, H d], [B, H, Tq]
  std::vector<double> dq, dk, dv;      // [B, T, heads d]
};

// Elements of `heads` heads in a view, [B, T, heads d].
inline std::vector<double> HeadValues(const HeadsView& view, std::int64_t width) {
  const auto all = Values(view.tensor);
  const std::int64_t row = view.tensor.shape()[2];
  std::vector<double> values;
  for (std::int64_t m = 0; m < view.tensor.shape().RowCount(); ++m) {
    const auto first = all.begin() + m * row + view.offset;
    values.insert(values.end(), first, first + width);
  }
  return values;
}

inline Tensor RandomMask(const AttentionCase& c, Dice& dice, DType dtype) {
  if (c.mask == MaskForm::kNone) return {};
  const bool batches =
      c.mask == MaskForm::kPerBatch || c.mask == MaskForm::kFull || c.mask == MaskForm::kOfKeys;
  const bool heads = c.mask == MaskForm::kPerHead || c.mask == MaskForm::kFull;
  const Shape shape{batches ? c.g.batch : 1, heads ? c.g.heads : 1,
                    c.mask == MaskForm::kOfKeys ? 1 : c.g.query_length, c.g.key_length};
  std::vector<double> values;
  for (std::int64_t row = 0; row < shape.RowCount(); ++row) {
    const bool hides_all = dice.Between(0, 9) == 0;
    for (std::int64_t key = 0; key < c.g.key_length; ++key) {
      const std::int64_t kind = dice.Between(0, 5);
      const double lowest = dtype == DType::kF32 ? -3.4e38 : -1.7e308;
      const double some = static_cast<double>(dice.Between(-300, 300)) / 100;
      values.push_back(hides_all || kind == 0 ? -kInfinity : kind == 1 ? lowest : some);
    }
  }
  return MakeTensor(shape, values, dtype);
}

inline AttentionTensors RandomTensors(const AttentionCase& c, Dice& dice, DType dtype) {
  const AttentionGeometry& g = c.g;
  const std::int64_t queries = g.heads * g.head_size, keys = g.key_heads * g.head_size;
  const auto random = [&](const Shape& shape) {
    return RandomTensor(shape, dice.Seed(), dtype, -c.range, c.range);
  };
  AttentionTensors t;
  if (c.layout == Layout::kApart) {
    t.q = {random({g.batch, g.query_length, queries}), 0};
    t.k = {random({g.batch, g.key_length, keys}), 0};
    t.v = {random({g.batch, g.key_length, keys}), 0};
  } else if (g.query_length == g.key_length) {  // all in one, with something unused at the end
    const Tensor qkv = random({g.batch, g.query_length, queries + 2 * keys + 3});
    t.q = {qkv, 0};
    t.k = {qkv, queries};
    t.v = {qkv, queries + keys};
  } else {
    t.q = {random({g.batch, g.query_length, queries + 5}), 2};
    const Tensor kv = random({g.batch, g.key_length, 2 * keys + 1});
    t.v = {kv, 0};
    t.k = {kv, keys};
  }
  t.mask = RandomMask(c, dice, dtype);
  t.dy = random({g.batch, g.query_length, queries});
  return t;
}

// One row of probabilities at a time.
class NaiveAttention {
 public:
  NaiveAttention(const AttentionGeometry& g, const AttentionTensors& t)
      : g_(g),
        q_(HeadValues(t.q, g.heads * g.head_size)),
        k_(HeadValues(t.k, g.key_heads * g.head_size)),
        v_(HeadValues(t.v, g.key_heads * g.head_size)),
        dy_(Values(t.dy)) {
    if (t.mask) mask_ = Values(t.mask), mask_shape_ = t.mask.shape();
  }

  AttentionResults Run() {
    out_.y.assign(at_query_.size(), 0);
    out_.dq.assign(at_query_.size(), 0);
    out_.dk.assign(at_key_.size(), 0);
    out_.dv.assign(at_key_.size(), 0);
    for (std::int64_t b = 0; b < g_.batch; ++b) {
      for (std::int64_t h = 0; h < g_.heads; ++h) {
        for (std::int64_t t = 0; t < g_.query_length; ++t) Row(b, h, t);
      }
    }
    return out_;
  }

 private:
  double Score(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t s) const {
    if (g_.causal && s > t + g_.key_length - g_.query_length) return -kInfinity;
    double sum = 0;
    for (std::int64_t i = 0; i < g_.head_size; ++i) {
      sum += q_[at_query_(b, t, h, i)] * k_[at_key_(b, s, KeyHead(h), i)];
    }
    sum *= g_.scale;
    if (mask_.empty()) return sum;
    const std::int64_t plane =
        (mask_shape_[0] == 1 ? 0 : b) * mask_shape_[1] + (mask_shape_[1] == 1 ? 0 : h);
    const std::int64_t row = plane * mask_shape_[2] + (mask_shape_[2] == 1 ? 0 : t);
    return sum + mask_[static_cast<std::size_t>(row * g_.key_length + s)];
  }
  std::int64_t KeyHead(std::int64_t h) const { return h / (g_.heads / g_.key_heads); }

  void Row(std::int64_t b, std::int64_t h, std::int64_t t) {
    std::vector<double> p(static_cast<std::size_t>(g_.key_length));
    double largest = -kInfinity, sum = 0;
    for (std::size_t s = 0; s < p.size(); ++s) {
      p[s] = Score(b, h, t, static_cast<std::int64_t>(s));
      // Masks of the lowest finite number count as -infinity.
      if (p[s] < -2.3e38) p[s] = -kInfinity;
      largest = std::max(largest, p[s]);
    }
    if (largest > -kInfinity) {
      for (double& each : p) sum += each = std::exp(each - largest);
      for (double& each : p) each /= sum;
    } else {
      std::fill(p.begin(), p.end(), 0.0);
    }
    out_.log_sum_exp.push_back(largest + (sum > 0 ? std::log(sum) : 0));
    Products(b, h, t, p);
  }

  void Products(std::int64_t b, std::int64_t h, std::int64_t t, const std::vector<double>& p) {
    std::vector<double> slopes(p.size());
    double middle = 0;
    for (std::size_t s = 0; s < p.size(); ++s) {
      for (std::int64_t i = 0; i < g_.head_size; ++i) {
        const auto key = at_key_(b, static_cast<std::int64_t>(s), KeyHead(h), i);
        const auto query = at_query_(b, t, h, i);
        out_.y[query] += p[s] * v_[key];
        out_.dv[key] += p[s] * dy_[query];
        slopes[s] += dy_[query] * v_[key];
      }
      middle += p[s] * slopes[s];
    }
    for (std::size_t s = 0; s < p.size(); ++s) {
      const double slope = g_.scale * p[s] * (slopes[s] - middle);
      for (std::int64_t i = 0; i < g_.head_size; ++i) {
        const auto key = at_key_(b, static_cast<std::int64_t>(s), KeyHead(h), i);
        const auto query = at_query_(b, t, h, i);
        out_.dq[query] += slope * k_[key];
        out_.dk[key] += slope * q_[query];
      }
    }
  }

  const AttentionGeometry g_;
  HeadIndex at_query_{g_, g_.query_length, g_.heads};
  HeadIndex at_key_{g_, g_.key_length, g_.key_heads};
  std::vector<double> q_, k_, v_, dy_, mask_;
  Shape mask_shape_;
  AttentionResults out_;
};

}  // namespace frugal::testing
