#include "sdk/module/initializer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "sdk/core/random.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

using Kind = Initializer::Kind;
// Makes elements first, first + 1, ... of a tensor.
using FillFunction =
    std::function<void(std::uint64_t key, std::uint64_t first, std::span<double> elements)>;

FillFunction UniformIn(double low, double high) {
  return [=](std::uint64_t key, std::uint64_t first, std::span<double> elements) {
    FillUniforms(key, first, elements);
    for (double& element : elements) element = low + (high - low) * element;
  };
}
FillFunction NormalWith(double mean, double deviation) {
  return [=](std::uint64_t key, std::uint64_t first, std::span<double> elements) {
    FillNormals(key, first, elements);
    for (double& element : elements) element = mean + deviation * element;
  };
}
FillFunction Symmetric(double bound) { return UniformIn(-bound, bound); }

// Element i, (row, feature), of a table; four runs of D / 4 features each.
double GridSinusoidAt(std::int64_t columns, double step, std::int64_t features, std::int64_t i) {
  const std::int64_t place = i / features;
  const std::int64_t feature = i % features;
  const std::int64_t quarter = features / 4;
  const std::int64_t run = std::min<std::int64_t>(feature / quarter, 3);
  const auto number = static_cast<double>(feature - run * quarter);
  const std::int64_t position = run < 2 ? place % columns : place / columns;
  const double angle = static_cast<double>(position) * step *
                       std::pow(10000.0, -number / static_cast<double>(quarter));
  return run % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

FillFunction GridSinusoid(std::int64_t columns, double step, std::int64_t features) {
  return [=](std::uint64_t, std::uint64_t first, std::span<double> elements) {
    auto i = static_cast<std::int64_t>(first);
    for (double& element : elements) element = GridSinusoidAt(columns, step, features, i++);
  };
}

FillFunction FillOf(const Initializer& init, const Shape& shape) {
  const Fans fans = FansOf(shape);
  const auto in = static_cast<double>(fans.in);
  const auto both = static_cast<double>(fans.in + fans.out);
  switch (init.kind) {
    case Kind::kUniform:
      return UniformIn(init.a, init.b);
    case Kind::kNormal:
      return NormalWith(init.a, init.b);
    case Kind::kXavierUniform:
      return Symmetric(std::sqrt(6.0 / both));
    case Kind::kXavierNormal:
      return NormalWith(0, std::sqrt(2.0 / both));
    case Kind::kHeUniform:
      return Symmetric(std::sqrt(6.0 / in));
    case Kind::kHeNormal:
      return NormalWith(0, std::sqrt(2.0 / in));
    case Kind::kLecunUniform:
      return Symmetric(std::sqrt(3.0 / in));
    case Kind::kLecunNormal:
      return NormalWith(0, std::sqrt(1.0 / in));
    case Kind::kGridSinusoid:
      return GridSinusoid(static_cast<std::int64_t>(init.a), init.b, shape.back());
    case Kind::kOrthogonal:
    case Kind::kZero:
    case Kind::kConstant:
      break;
  }
  return [value = init.a](std::uint64_t, std::uint64_t, std::span<double> elements) {
    std::ranges::fill(elements, value);
  };
}

using Vector = std::span<double>;

double Dot(Vector a, Vector b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void Subtract(Vector from, Vector direction) {
  const double along = Dot(from, direction);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= along * direction[i];
}

// Modified Gram-Schmidt, each vector twice: once loses digits where vectors are nearly parallel.
void Orthonormalize(std::vector<double>& matrix, std::size_t count, std::size_t length) {
  const auto vector = [&](std::size_t i) { return Vector(matrix.data() + i * length, length); };
  for (std::size_t i = 0; i < count; ++i) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t j = 0; j < i; ++j) Subtract(vector(i), vector(j));
    }
    const double norm = std::sqrt(Dot(vector(i), vector(i)));
    for (double& value : vector(i)) value /= norm;
  }
}

template <class T>
void FillOrthogonal(const Initializer& init, std::uint64_t key, const Tensor& tensor) {
  if (tensor.size() == 0) return;
  const std::int64_t rows = tensor.shape().rank() > 1 ? tensor.shape()[0] : 1;
  const auto matrix = OrthogonalMatrix(key, rows, tensor.size() / rows);
  std::ranges::transform(matrix, tensor.data<T>(),
                         [&](double value) { return static_cast<T>(init.a * value); });
}

template <class T>
void FillWith(const FillFunction& fill, std::uint64_t key, std::span<T> values) {
  constexpr std::size_t kTogether = 256;
  ParallelFor(std::ssize(values), kTogether, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kTogether> room;
    const std::span made(room.data(), static_cast<std::size_t>(end - begin));
    fill(key, static_cast<std::size_t>(begin), made);
    std::ranges::transform(made, values.begin() + begin,
                           [](double value) { return static_cast<T>(value); });
  });
}

}  // namespace

std::string_view NameOf(Initializer::Kind kind) {
  constexpr auto names = std::to_array<std::string_view>(
      {"zero", "constant", "uniform", "normal", "xavier_uniform", "xavier_normal", "he_uniform",
       "he_normal", "lecun_uniform", "lecun_normal", "grid_sinusoid", "orthogonal"});
  static_assert(names.size() == static_cast<std::size_t>(Initializer::Kind::kOrthogonal) + 1);
  return names[static_cast<std::size_t>(kind)];
}

Fans FansOf(const Shape& shape) {
  if (shape.rank() < 2) return {shape.ElementCount(), shape.ElementCount()};
  std::int64_t kernel = 1;
  for (std::size_t axis = 2; axis < shape.rank(); ++axis) kernel *= shape[axis];
  return {shape[1] * kernel, shape[0] * kernel};
}

template <class T>
static void InitializeAs(const Initializer& initializer, std::uint64_t key, const Tensor& tensor) {
  if (initializer.kind == Kind::kOrthogonal) return FillOrthogonal<T>(initializer, key, tensor);
  FillWith(FillOf(initializer, tensor.shape()), key, tensor.values<T>());
}

void Initialize(const Initializer& initializer, std::uint64_t seed, std::string_view path,
                const Tensor& tensor) {
  const std::uint64_t key = StreamKey(seed, path);
  if (tensor.dtype() == DType::kF64) return InitializeAs<double>(initializer, key, tensor);
  InitializeAs<float>(initializer, key, tensor);
}

std::vector<double> OrthogonalMatrix(std::uint64_t key, std::int64_t rows, std::int64_t columns) {
  const auto count = static_cast<std::size_t>(std::min(rows, columns));
  const auto length = static_cast<std::size_t>(std::max(rows, columns));
  std::vector<double> matrix(count * length);
  FillNormals(key, 0, matrix);
  Orthonormalize(matrix, count, length);
  if (rows <= columns) return matrix;
  std::vector<double> transposed(matrix.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < length; ++j) transposed[j * count + i] = matrix[i * length + j];
  }
  return transposed;
}

}  // namespace frugal
