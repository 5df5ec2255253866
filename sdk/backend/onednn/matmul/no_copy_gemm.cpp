#include "sdk/backend/onednn/matmul/no_copy_gemm.h"

#include "sdk/backend/common/cpu_features.h"

namespace frugal::onednn {

bool IsNoCopy(std::int64_t rows, std::int64_t columns) {
  constexpr double kLeast = 0.0038;  // oneDNN's
  return simd::BestInstructionSet() == simd::InstructionSet::kAvx2 && rows > 0 && columns > 0 &&
         1.0 / static_cast<double>(rows) + 1.0 / static_cast<double>(columns) >= kLeast;
}

// With fewer rows the copy takes as long as it saves.
bool PaddingPays(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kFewRows = 32, kAlike = 512;  // elements in 2 KB
  return rows >= kFewRows && columns % kAlike == 0 && IsNoCopy(rows, columns);
}

// 128 rows are as fast at once.
bool ColumnBlocksPay(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kFewRows = 192;
  return rows >= kFewRows && columns >= 2 * kColumnBlock && IsNoCopy(rows, columns);
}

}  // namespace frugal::onednn
