#include <cstring>
#include <string>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/core/error.h"

namespace frugal {
namespace eigen {
namespace {

[[noreturn]] void ThrowOutside(std::int64_t position, std::int64_t id, std::int64_t rows) {
  throw DataError(
      {.where = "embedding",
       .required = "every id in a table of " + std::to_string(rows) + " rows, counted from 0",
       .given = "id " + std::to_string(id) + " at position " + std::to_string(position),
       .advice = "correct the ids or enlarge the table"});
}

// The ids of `ids`, all in [0, rows).
const std::int64_t* CheckedIds(const Tensor& ids, std::int64_t rows) {
  const auto* values = ids.data<std::int64_t>();
  for (std::int64_t i = 0; i < ids.size(); ++i) {
    if (values[i] < 0 || values[i] >= rows) ThrowOutside(i, values[i], rows);
  }
  return values;
}

void ClearBytes(const Tensor& tensor) {
  auto* bytes = static_cast<char*>(tensor.raw());
  ParallelFor(tensor.bytes(), std::int64_t{1} << 18, [&](std::int64_t begin, std::int64_t end) {
    std::memset(bytes + begin, 0, static_cast<std::size_t>(end - begin));
  });
}

// A part of the table that one task adds to.
struct Part {
  std::int64_t first_row;
  std::int64_t end_row;
  std::int64_t first_column;
  std::int64_t end_column;
  std::int64_t padding;  // an id that adds nothing; -1 = none
};

template <class T>
void AddRows(const T* dy, const std::int64_t* ids, std::int64_t count, std::int64_t width,
             const Part& part, T* table) {
  const std::int64_t columns = part.end_column - part.first_column;
  for (std::int64_t i = 0; i < count; ++i) {
    if (ids[i] < part.first_row || ids[i] >= part.end_row || ids[i] == part.padding) continue;
    const T* from = dy + i * width + part.first_column;
    T* to = table + ids[i] * width + part.first_column;
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) to[j] += from[j];
  }
}

// Every task goes through all ids and adds to its part alone, so that each element of the table is
// summed in the order of the ids: wide tables are parted by columns, narrow ones by rows.
template <class T>
void AddInParts(const T* dy, const std::int64_t* ids, std::int64_t count, std::int64_t rows,
                std::int64_t width, std::int64_t padding, T* table) {
  constexpr std::int64_t kColumns = 64;  // whole cache lines
  const std::int64_t tasks = std::clamp<std::int64_t>(count * width / kChunk, 1, 16);
  if (width >= 2 * kColumns) {
    const std::int64_t fair = (width + tasks - 1) / tasks;
    const std::int64_t columns = (fair + kColumns - 1) / kColumns * kColumns;
    ParallelFor(width, columns, [&](std::int64_t begin, std::int64_t end) {
      AddRows(dy, ids, count, width, {0, rows, begin, end, padding}, table);
    });
  } else {
    ParallelFor(rows, (rows + tasks - 1) / tasks, [&](std::int64_t begin, std::int64_t end) {
      AddRows(dy, ids, count, width, {begin, end, 0, width, padding}, table);
    });
  }
}

}  // namespace
}  // namespace eigen

void EigenArrayKernels::Gather(const Tensor& table, const Tensor& ids, const Tensor& y) {
  const std::int64_t width = table.shape().back();
  const std::int64_t* id = eigen::CheckedIds(ids, table.shape().RowCount());
  const std::int64_t bytes = width * SizeOf(table.dtype());
  if (ids.size() == 0 || bytes == 0) return;
  const auto* from = static_cast<const char*>(table.raw());
  auto* to = static_cast<char*>(y.raw());
  eigen::ParallelFor(ids.size(), eigen::RowsPerChunk(width), [&](auto begin, auto end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::memcpy(to + i * bytes, from + id[i] * bytes, static_cast<std::size_t>(bytes));
    }
  });
}

void EigenArrayKernels::ScatterAdd(const Tensor& dy, const Tensor& ids, const Tensor& dtable,
                                   bool accumulate, std::int64_t padding) {
  const std::int64_t rows = dtable.shape().RowCount();
  const std::int64_t* id = eigen::CheckedIds(ids, rows);
  eigen::WithFloating("embedding backward", dtable.dtype(), [&]<class T>() {
    if (dtable.size() == 0) return;
    if (!accumulate) eigen::ClearBytes(dtable);
    if (ids.size() == 0) return;
    eigen::AddInParts<T>(dy.data<T>(), id, ids.size(), rows, dtable.shape().back(), padding,
                         dtable.data<T>());
  });
}

}  // namespace frugal
