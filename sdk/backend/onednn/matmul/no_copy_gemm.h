#pragma once

#include <cstdint>

// On processors with AVX2 and no more, oneDNN multiplies f32 matrices of few rows or columns where
// they lie ("no-copy": nocopy_checker_avx2 in its src/cpu/x64/gemm/gemm_driver.cpp) in place of
// packing them. These kernels are its fastest, but where the right factor [depth, columns] has rows
// that lie a multiple of 2 KB apart, which meet in few sets of the first cache (the input's
// gradient of 256 x 1024 x 1024: 74 GFLOP/s, 117 to 138 padded), and where a transposed one is
// larger than the second cache (forward of 256 x 768 x 50257: 116, 131 in blocks; `./run bench
// no_copy`).
namespace frugal::onednn {

// Says of a product of `rows` by `columns` in f32 that oneDNN multiplies its factors where they
// lie, with any number of threads.
bool IsNoCopy(std::int64_t rows, std::int64_t columns);

// Returns whether a right factor [depth, columns] is better copied to rows PaddedRow() apart first.
bool PaddingPays(std::int64_t rows, std::int64_t columns);
constexpr std::int64_t PaddedRow(std::int64_t columns) { return columns + 16; }  // a cache line

// Returns whether a right factor that lies transposed is better taken kColumnBlock of its columns
// at a time.
bool ColumnBlocksPay(std::int64_t rows, std::int64_t columns);
inline constexpr std::int64_t kColumnBlock = 512;

}  // namespace frugal::onednn
