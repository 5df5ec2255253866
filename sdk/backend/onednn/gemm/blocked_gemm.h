#pragma once

#include <cstdint>

#include "sdk/backend/onednn/gemm/gemm.h"
#include "sdk/backend/onednn/gemm/thread_partition.h"

namespace frugal::onednn {

// Returns whether a product of these sizes and transposes is better taken by BlockedGemm than by
// oneDNN, which is so with AVX2 alone, for gradients of weights over many rows, and for other
// products of few rows or columns. Up to about 263 of either oneDNN multiplies there where the
// factors lie ("no-copy": nocopy_checker_avx2 in its src/cpu/x64/gemm/gemm_driver.cpp), at half the
// speed where the right factor's rows lie a multiple of 2 KB apart (`./run bench blocked_gemm`
// prints both).
bool BlockedGemmPays(const Gemm& gemm);

// Multiplies in blocks of the depth, whose panels are packed so that those of the left factor stay
// in the second cache and one of the right in the first. Each thread has a piece of C for itself
// and packs what it needs. A number's bits depend on k and its factors alone: not on the threads,
// nor on how many rows and columns there are.
class BlockedGemm {
 public:
  BlockedGemm(std::int64_t m, std::int64_t n, std::int64_t k);
  explicit BlockedGemm(const Gemm& sizes) : BlockedGemm(sizes.m, sizes.n, sizes.k) {}

  std::int64_t ScratchBytes() const;
  // gemm has the sizes that this was made with.
  void Run(const Gemm& gemm, const GemmTarget& target, void* scratch) const;

 private:
  struct Factors;
  void RunPiece(const Factors& factors, const GemmTarget& target, const Range& rows,
                const Range& columns, float* scratch) const;
  void RunBlock(const Factors& factors, const GemmTarget& target, const Range& rows,
                const Range& columns, float* scratch) const;
  std::int64_t RightSize() const { return columns_ * depth_; }  // elements packed of a factor
  std::int64_t PieceSize() const;

  std::int64_t n_, k_;
  ThreadPartition grid_;
  std::int64_t depth_, rows_, columns_;  // of a block
};

}  // namespace frugal::onednn
