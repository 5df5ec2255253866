#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sdk/capture/store/capture_reader.h"

namespace frugal {

// Rows [begin, begin + count) of an entry, of those operands that have them; 0 rows in all stands
// for an entry that is taken whole.
struct EntrySlice {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t rows = 0;   // of all
  bool by_sample = false;  // a row is what one sample of the batch has

  bool whole() const { return rows == 0; }
};

// Tells which entries can be taken by rows, and what memory it takes to verify them. Rows are those
// of the operands that go along with the output's: whatever else there is, weights above all, is
// whole in every slice. Windows, attention and group norms go by the samples of their batch. Of a
// table that rows are gathered from, only those that are asked for are
// read.
class EntrySlices {
 public:
  explicit EntrySlices(const CaptureEntry& entry);

  std::int64_t rows() const { return rows_; }  // 0 where it cannot be taken by rows
  bool IsSplit(std::size_t buffer) const { return split_[buffer]; }
  // Returns the call on a slice: its shapes, and the samples that it is told of.
  CallDescription CallOf(const EntrySlice& slice) const;
  // Bytes that verifying so many rows takes at most, or with 0 all of it: tensors as recorded, in
  // f64, and those that they are compared with.
  std::int64_t NeededBytes(std::int64_t rows) const;
  // Cuts the entry so that each slice takes at most `budget` bytes; nothing where it cannot be.
  std::vector<EntrySlice> Within(std::int64_t budget) const;

 private:
  const CaptureEntry& entry_;
  std::int64_t rows_ = 0;
  bool by_sample_ = false;
  std::vector<bool> split_;
};

// Puts an entry's tensors into its description: what is only read may be a window on a file; what
// is written is in memory of its own. Where `real` is given, floating tensors are of this type.
CallDescription LoadEntry(CaptureReader& reader, const CaptureEntry& entry,
                          const EntrySlices& slices, const EntrySlice& slice,
                          std::optional<DType> real, Allocator& memory);
// Returns what was recorded of the buffers that are written, in their order.
std::vector<Tensor> RecordedOutputs(CaptureReader& reader, const CaptureEntry& entry,
                                    const EntrySlices& slices, const EntrySlice& slice,
                                    Allocator& memory);

}  // namespace frugal
