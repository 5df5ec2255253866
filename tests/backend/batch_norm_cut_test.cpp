#include <cmath>
#include <vector>

#include "sdk/backend/onednn/simd/loops.h"
#include "tests/backend/onednn/bf16_support.h"

// The backward passes of a batch norm with a relu find from x where it cut. That has to be where y
// is 0, even where the last bit decides: so every channel's bias here is minus the product of one
// of its rows, which then is 0, or what a fused multiply-add leaves of the product's rounding.

using namespace frugal;
using namespace frugal::testing;

namespace {

constexpr double kEpsilon = 1e-5;

// bias[c] = -(x - mean) * scale of some row.
template <class T>
Tensor BiasAtARow(const Tensor& x, const Tensor& mean, const Tensor& scale, Dice& dice) {
  const Tensor bias = Uninitialized(mean.shape(), mean.dtype());
  const std::vector<double> values = Values(x);
  for (std::int64_t c = 0; c < mean.size(); ++c) {
    const std::int64_t at = dice.Between(0, x.shape()[0] - 1) * mean.size() + c;
    const T deviation = static_cast<T>(values[static_cast<std::size_t>(at)]) - mean.data<T>()[c];
    const T product = deviation * scale.data<T>()[c];
    bias.data<T>()[c] = -product;
  }
  return bias;
}

// 1 where y is above 0 and 0 elsewhere.
std::vector<double> Kept(const Tensor& y) {
  std::vector<double> kept = Values(y);
  for (double& value : kept) value = value > 0 ? 1 : 0;
  return kept;
}

std::vector<double> ColumnSums(const std::vector<double>& matrix, std::int64_t columns) {
  std::vector<double> sums(static_cast<std::size_t>(columns), 0);
  for (std::size_t i = 0; i < matrix.size(); ++i) sums[i % sums.size()] += matrix[i];
  return sums;
}

template <class T>
struct LoopCase {
  const simd::NormLoops<T>& loops;
  Tensor x, mean, scale, offset, y, ones;

  LoopCase(const simd::NormLoops<T>& norm, const Shape& shape, DType dtype, Dice& dice)
      : loops(norm),
        x(RandomTensor(shape, dice.Seed(), dtype)),
        mean(RandomTensor({shape[1]}, dice.Seed())),
        scale(RandomTensor({shape[1]}, dice.Seed())),
        offset(BiasAtARow<float>(x, mean, scale, dice)),
        y(Uninitialized(shape, dtype)),
        ones(Full(shape, 1, dtype)) {
    Normalize();
  }
  void Normalize() const {
    loops.normalize(x.data<T>(), x.shape()[0], x.shape()[1], mean.data<float>(),
                    scale.data<float>(), offset.data<float>(), true, y.data<T>());
  }
  simd::ReluCut<T> Cut(bool by_input) const {
    if (by_input) return {nullptr, scale.data<float>(), offset.data<float>()};
    return {y.data<T>()};
  }
  void CheckSums(bool by_input) const {
    const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
    const Tensor sum = Uninitialized({columns}), product = Uninitialized({columns});
    loops.gradient_moments(ones.data<T>(), x.data<T>(), Cut(by_input), rows, columns,
                           mean.data<float>(), sum.data<float>(), product.data<float>());
    CHECK(Values(sum) == ColumnSums(Kept(y), columns));
  }
  // dx = 1 dy + (0 (x - mean) + 0)
  void CheckInputGradient(bool by_input) const {
    const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
    const Tensor one = Full({columns}, 1), zero = Full({columns}, 0);
    const Tensor dx = Uninitialized(x.shape(), x.dtype());
    loops.normalize_gradient(ones.data<T>(), x.data<T>(), Cut(by_input), rows, columns,
                             mean.data<float>(), one.data<float>(), zero.data<float>(),
                             zero.data<float>(), dx.data<T>());
    CHECK(Values(dx) == Kept(y));
  }
};

template <class T>
void CheckLoops(const simd::Loops& loops, const Shape& shape, DType dtype, Dice& dice) {
  const LoopCase<T> c(loops.Of<T>().norm, shape, dtype, dice);
  for (const bool by_input : {true, false}) {
    CAPTURE(shape[0], shape[1], NameOf(dtype), by_input);
    c.CheckSums(by_input);
    c.CheckInputGradient(by_input);
  }
  c.x.template data<T>()[dice.Between(0, c.x.size() - 1)] = static_cast<T>(NAN);
  c.Normalize();
  for (const bool by_input : {true, false}) c.CheckSums(by_input);  // not a number is cut
}

struct Gradients {
  std::vector<double> dx, dweight, dbias;
};

// Holds what a batch norm with a relu is given and found.
struct Normalized {
  Tensor x, dy, weight, bias, mean, rstd, y;
};

// By the formula, cut where y is 0. Constant statistics are those of evaluation.
Gradients ByFormula(const Normalized& n, bool constant) {
  const std::int64_t columns = n.x.shape()[1];
  const auto mean = Values(n.mean), rstd = Values(n.rstd), x = Values(n.x), dy = Values(n.dy);
  const auto weight = n.weight ? Values(n.weight) : std::vector<double>(mean.size(), 1);
  std::vector<double> cut = Kept(n.y), normal = x, products = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % mean.size();
    cut[i] *= dy[i];
    normal[i] = (x[i] - mean[c]) * rstd[c];
    products[i] = normal[i] * cut[i];
  }
  Gradients d{cut, ColumnSums(products, columns), ColumnSums(cut, columns)};
  const double share = constant ? 0 : 1 / static_cast<double>(n.x.shape()[0]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % mean.size();
    const double rest = d.dbias[c] + normal[i] * d.dweight[c];
    d.dx[i] = weight[c] * rstd[c] * (cut[i] - share * rest);
  }
  return d;
}

// An element cut wrongly makes a difference of 0.5 at the least in dbias.
Normalized RandomInputs(const Shape& shape, DType dtype, DType exact, Dice& dice) {
  Normalized n;
  n.x = RandomTensor(shape, dice.Seed(), dtype, -2, 2);
  n.dy = RandomTensor(shape, dice.Seed(), dtype, 0.5, 1);
  n.y = Uninitialized(shape, dtype);
  n.mean = RandomTensor({shape[1]}, dice.Seed(), exact, -0.5, 0.5);
  n.rstd = Uninitialized({shape[1]}, exact);
  if (dice.Between(0, 2) == 0) return n;
  std::vector<double> weight = Values(RandomTensor({shape[1]}, dice.Seed(), exact, 0.5, 2));
  for (double& w : weight) w = dice.Flip() ? w : -w;
  n.weight = MakeTensor({shape[1]}, weight, exact);
  return n;
}

template <class T>
void SetBias(Normalized& n, Dice& dice) {
  if (dice.Between(0, 3) == 0) return;
  Tensor scale = Clone(n.rstd);
  for (std::int64_t c = 0; n.weight && c < scale.size(); ++c) {
    scale.data<T>()[c] *= n.weight.data<T>()[c];
  }
  n.bias = BiasAtARow<T>(n.x, n.mean, scale, dice);
}

class Passes {
 public:
  Passes(NormKernels& norm, DType dtype, std::uint32_t seed)
      : norm_(norm), dtype_(dtype), dice_(seed) {}

  template <class T>
  void Check(std::int64_t columns) {
    const DType exact = dtype_ == DType::kBF16 ? DType::kF32 : dtype_;
    const Shape shape{dice_.Between(20, 300), columns};
    CAPTURE(NameOf(dtype_), shape[0], columns);
    Normalized n = RandomInputs(shape, dtype_, exact, dice_);
    Evaluate<T>(n);
    Train<T>(n);
  }

 private:
  template <class T>
  void Train(Normalized n) {
    const Scratch scratch(norm_.BatchScratch(n.x));
    norm_.BatchForward(n.x, {}, {}, kEpsilon, false, n.y, n.mean, n.rstd, scratch.get());
    n.bias = {};
    SetBias<T>(n, dice_);
    norm_.BatchNormalize(n.x, n.weight, n.bias, n.mean, n.rstd, true, n.y, scratch.get());
    const auto run = [&](const Tensor& dx, const Tensor& dweight, const Tensor& dbias) {
      norm_.BatchBackward(n.dy, n.x, n.mean, n.rstd, n.weight, n.bias, true, dx, dweight, dbias,
                          false, scratch.get());
    };
    CheckClose(ByFormula(n, false), n, true, run);
    CHECK(scratch.GuardIsIntact());
  }

  template <class T>
  void Evaluate(Normalized n) {
    const Tensor variance = RandomTensor(n.mean.shape(), dice_.Seed(), n.mean.dtype(), 0.5, 2);
    for (std::int64_t c = 0; c < variance.size(); ++c) {
      const auto v = static_cast<double>(variance.data<T>()[c]);
      n.rstd.data<T>()[c] = static_cast<T>(1 / std::sqrt(v + kEpsilon));
    }
    SetBias<T>(n, dice_);
    norm_.BatchInference(n.x, n.weight, n.bias, n.mean, variance, kEpsilon, true, n.y);
    const Scratch scratch(norm_.BatchScratch(n.dy));
    const Gradients expected = ByFormula(n, true);
    for (const bool by_x : {true, false}) {
      CAPTURE(by_x);
      const auto run = [&](const Tensor& dx, const Tensor& dweight, const Tensor& dbias) {
        norm_.BatchInferenceBackward(n.dy, by_x ? n.x : Tensor(), by_x ? Tensor() : n.y, n.mean,
                                     variance, n.weight, n.bias, kEpsilon, true, dx, dweight, dbias,
                                     false, scratch.get());
      };
      CheckClose(expected, n, by_x, run);
    }
    CHECK(scratch.GuardIsIntact());
  }

  template <class Backward>
  void CheckClose(const Gradients& expected, const Normalized& n, bool wants_weight,
                  const Backward& backward) {
    const Tensor dx = Uninitialized(n.x.shape(), dtype_);
    const Tensor dbias = Uninitialized(n.mean.shape(), n.mean.dtype());
    const Tensor dweight = wants_weight ? Clone(dbias) : Tensor();
    backward(dx, dweight, dbias);
    const double tolerance = dtype_ == DType::kF64 ? 1e-11 : 2e-3;
    CHECK(MaxError(dx, expected.dx) < (dtype_ == DType::kBF16 ? 0.05 : tolerance));
    if (wants_weight) CHECK(MaxError(dweight, expected.dweight) < tolerance);
    CHECK(MaxError(dbias, expected.dbias) < tolerance);
  }

  NormKernels& norm_;
  DType dtype_;
  Dice dice_;
};

}  // namespace

TEST_CASE("the loops of every instruction set cut by x where they cut by y") {
  std::vector<const simd::Loops*> all = {&simd::BaselineLoops(), &simd::SelectLoops()};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    all.push_back(&simd::Avx2Loops());
  }
  Dice dice(1);
  for (int round = 0; round < 40; ++round) {
    const Shape shape{dice.Between(1, 70), round % 4 == 0 ? 600 + round : dice.Between(1, 140)};
    for (const simd::Loops* loops : all) {
      CheckLoops<float>(*loops, shape, DType::kF32, dice);
      CheckLoops<BFloat16>(*loops, shape, DType::kBF16, dice);
    }
  }
}

TEST_CASE("batch norms cut their gradient exactly where their output is 0") {
  Backends b;
  for (const std::int64_t columns : {1, 3, 16, 20, 64, 130, 520}) {
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      Passes(b.reference->norm(), DType::kF64, seed).Check<double>(columns);
      Passes(b.reference->norm(), DType::kF32, seed).Check<float>(columns);
      Passes(b.fast->norm(), DType::kF32, seed).Check<float>(columns);
      Passes(b.fast->norm(), DType::kBF16, seed).Check<float>(columns);
    }
  }
  Passes(b.fast->norm(), DType::kF32, 1).Check<float>(4097);  // too many for fast evaluation
}
