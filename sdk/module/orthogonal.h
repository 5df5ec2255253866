#pragma once

#include <cstdint>
#include <vector>

namespace frugal {

// A random row-major matrix whose rows (where rows <= columns) or columns (otherwise) are
// orthonormal: a Gaussian matrix of stream `key`, orthogonalized. In double precision; O(n m min).
std::vector<double> OrthogonalMatrix(std::uint64_t key, std::int64_t rows, std::int64_t columns);

}  // namespace frugal
