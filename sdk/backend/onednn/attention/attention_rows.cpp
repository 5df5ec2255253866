#include "sdk/backend/onednn/attention/attention_tiles.h"

namespace frugal::onednn {

HeadRows Floats(const RowsOfType<BFloat16>& rows, const RowRange& range, std::int64_t width,
                float* to) {
  for (std::int64_t t = 0; t < range.count; ++t) {
    const BFloat16* const row = rows.at(range.first + t);
    for (std::int64_t i = 0; i < width; ++i) to[t * width + i] = static_cast<float>(row[i]);
  }
  return {to, width};
}

HeadRows FloatRows(const HeadsView& view, std::int64_t batch, std::int64_t head,
                   std::int64_t head_size, const RowRange& range, float* converted) {
  if (view.tensor.dtype() == DType::kBF16) {
    return Floats(RowsOf<BFloat16>(view, batch, head, head_size), range, head_size, converted);
  }
  const HeadRows rows = RowsOf(view, batch, head, head_size);
  return {rows.at(range.first), rows.row};
}

void RoundRows(const float* from, std::int64_t from_row, const RowRange& range, std::int64_t width,
               float factor, const RowsOfType<BFloat16>& to) {
  for (std::int64_t t = 0; t < range.count; ++t, from += from_row) {
    BFloat16* const row = to.at(range.first + t);
    for (std::int64_t i = 0; i < width; ++i) row[i] = BFloat16(factor * from[i]);
  }
}

}  // namespace frugal::onednn
