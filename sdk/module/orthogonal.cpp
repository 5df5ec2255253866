#include "sdk/module/orthogonal.h"

#include <cmath>
#include <span>

#include "sdk/core/random.h"

namespace frugal {
namespace {

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

}  // namespace

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
