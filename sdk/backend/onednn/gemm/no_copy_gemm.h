#pragma once

#include <cstdint>

#include "sdk/backend/onednn/gemm/gemm.h"
#include "sdk/backend/onednn/gemm/thread_partition.h"

namespace frugal::onednn {

// Returns whether a product of these sizes, transposes and strides is better taken by NoCopyGemm
// than by oneDNN's matmul, or by its sgemm called once. So it is with AVX-512 where the left factor
// is not transposed, which is a layer's forward product or the gradient of its input, and neither
// thin nor narrow (`./run bench libraries gpt2 dit_s2` prints all three).
bool NoCopyGemmPays(const Gemm& gemm);

// Multiplies by oneDNN's sgemm, called for blocks so small that it reads both factors where they
// lie, in place of copies in memory of its own that no plan counts. The right factor is copied into
// scratch first, block by block, where it is transposed or where its rows lie a multiple of 4 KB
// apart and would meet in few sets of the caches. Each thread has a piece of C for itself.
class NoCopyGemm {
 public:
  explicit NoCopyGemm(const Gemm& sizes);  // data are not looked at

  std::int64_t ScratchBytes() const;
  // gemm has the sizes that this was made with.
  void Run(const Gemm& gemm, const GemmTarget& target, void* scratch) const;

 private:
  // Some rows of the right factor, of the columns that are computed.
  struct Factor {
    const float* data;
    std::int64_t stride;
  };

  std::int64_t CopyBytes() const;  // of one piece
  void RunColumns(const Gemm& gemm, const GemmTarget& target, const Range& rows,
                  const Range& columns, float* copy) const;
  Factor RightFactor(const Gemm& gemm, const Range& depth, const Range& columns, float* copy) const;

  bool copies_;
  ThreadPartition grid_;
  std::int64_t columns_, depth_;  // of a block
};

}  // namespace frugal::onednn
