#include "sdk/capture/verify/entry_slices.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "sdk/capture/capture_error.h"
#include "sdk/capture/replay.h"

namespace frugal {
namespace {

// The operands whose rows go together, the first one has all rows; where they go by samples, a row
// is what one sample of the call's batch has. Those of sums over rows, of random masks and of
// numbers that depend on how many rows there are cannot be cut.
struct Rows {
  std::string_view kernel;
  std::vector<std::string_view> operands;
  bool by_sample = false;
};

const std::vector<Rows>& SplitKernels() {
  static const std::vector<Rows> rows = {
      {"linear_forward", {"x", "residual", "y"}},
      {"linear_backward_data", {"dy", "dx"}},
      {"activation_forward", {"x", "y"}},
      {"activation_backward", {"dy", "kept", "dx"}},
      {"add", {"a", "b", "sum"}},
      {"scale", {"x", "y"}},
      {"copy", {"from", "to"}},
      {"unary_forward", {"x", "y"}},
      {"unary_backward", {"dy", "kept", "dx"}},
      {"softmax_forward", {"x", "y"}},
      {"softmax_backward", {"dy", "y", "dx"}},
      {"norm_layer_forward", {"x", "y", "mean", "rstd"}},
      {"rms_forward", {"x", "y", "rstd"}},
      {"gated_forward", {"x", "y"}},
      {"gated_backward", {"dy", "x", "dx"}},
      {"gather", {"ids", "y"}},
      {"sgd", {"gradient", "momentum_buffer", "parameter"}},
      {"adam", {"gradient", "first_moment", "second_moment", "parameter"}},
      {"conv_forward", {"x", "y"}, true},
      {"conv_backward_data", {"dy", "dx"}, true},
      {"pool_max_forward", {"x", "y"}, true},
      {"pool_max_backward", {"x", "dy", "dx"}, true},
      {"pool_average_forward", {"x", "y"}, true},
      {"pool_average_backward", {"dy", "dx"}, true},
      {"pool_adaptive_forward", {"x", "y"}, true},
      {"pool_adaptive_backward", {"dy", "dx"}, true},
      {"norm_group_forward", {"x", "y", "mean", "rstd"}, true},
      {"norm_group_normalize", {"x", "mean", "rstd", "y"}, true},
      {"attention_forward", {"q", "k", "v", "mask", "y", "log_sum_exp"}, true},
      {"attention_backward",
       {"dy", "q", "k", "v", "mask", "y", "log_sum_exp", "dq", "dk", "dv"},
       true},
  };
  return rows;
}

bool IsTable(const CaptureEntry& entry, std::size_t buffer) {
  return entry.call.kernel == "gather" && entry.call.buffers[buffer].name == "table";
}

constexpr std::string_view kBatch = "batch";

std::int64_t BatchOf(const CallDescription& call) {
  for (const auto& [name, value] : call.attributes) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (name == kBatch && number != nullptr) return *number;
  }
  return 0;
}

// A mask may be one for all samples.
bool IsOfAll(const CallOperand& operand, std::int64_t samples) {
  return operand.name == "mask" && operand.shape.rank() > 0 && operand.shape[0] != samples;
}

// The first extent counts samples, or equal numbers of rows of each.
Shape OfSamples(Shape shape, const EntrySlice& slice) {
  shape[0] = shape[0] / slice.rows * slice.count;
  return shape;
}

// Tells whether samples follow each other in the tensor, and where a part of it is written, there.
bool HasSamples(const CallBuffer& buffer, std::int64_t samples) {
  const auto counts = [&](const Shape& shape) {
    return shape.rank() > 0 && shape[0] > 0 && shape[0] % samples == 0;
  };
  return counts(buffer.shape) && std::ranges::all_of(buffer.parts, [&](const TensorPart& part) {
           return part.extents.ElementCount() > 0 && counts(part.extents) &&
                  part.extents[0] * part.box.strides[0] == buffer.shape.ElementCount();
         });
}

Shape SliceShape(const CallBuffer& buffer, const EntrySlice& slice) {
  if (slice.by_sample) return OfSamples(buffer.shape, slice);
  const std::int64_t each = buffer.shape.ElementCount() / slice.rows;
  const bool has_columns = buffer.shape.rank() > 1 && buffer.shape.RowCount() == slice.rows;
  return each == 1 && !has_columns ? Shape{slice.count} : Shape{slice.count, each};
}

std::vector<std::int64_t> Numbers(std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

Tensor LoadSlice(CaptureReader& reader, const CaptureEntry& entry, std::size_t buffer,
                 Moment moment, const EntrySlice& slice, Allocator& memory) {
  const CallBuffer& held = entry.call.buffers[buffer];
  const std::int64_t each = held.shape.ElementCount() / slice.rows;
  return reader.ReadRows(entry, buffer, moment, Numbers(slice.begin, slice.count), each, memory)
      .Reshape(SliceShape(held, slice));
}

// Replaces a table by its rows that are asked for, and their numbers by those that they have there.
void GatherRows(CaptureReader& reader, const CaptureEntry& entry, CallDescription& call,
                Allocator& memory) {
  CallBuffer* table = nullptr;
  CallBuffer* ids = nullptr;
  std::size_t place = 0;
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    if (call.buffers[i].name == "table") table = &call.buffers[i], place = i;
    if (call.buffers[i].name == "ids") ids = &call.buffers[i];
  }
  if (table == nullptr || ids == nullptr || ids->dtype != DType::kI64 || table->shape.rank() != 2) {
    throw CaptureError({.where = entry.Describe(),
                        .required = "a table and the numbers of its rows",
                        .given = "they are not there",
                        .advice = "capture again"});
  }
  std::map<std::int64_t, std::int64_t> places;
  for (const std::int64_t id : ids->tensor.values<std::int64_t>()) places.emplace(id, 0);
  std::vector<std::int64_t> rows;
  for (auto& [id, at] : places) {
    if (id < 0 || id >= table->shape[0]) {
      throw CaptureError({.where = entry.Describe(),
                          .required = "ids below " + std::to_string(table->shape[0]),
                          .given = std::to_string(id) + " is among them",
                          .advice = "capture again"});
    }
    at = std::ssize(rows);
    rows.push_back(id);
  }
  Tensor renumbered(memory, ids->tensor.shape(), DType::kI64, MemoryTag::kWorkspace);
  std::ranges::transform(ids->tensor.values<std::int64_t>(),
                         renumbered.values<std::int64_t>().begin(),
                         [&](std::int64_t id) { return places[id]; });
  ids->tensor = renumbered;
  table->tensor = reader.ReadRows(entry, place, Moment::kBefore, rows, table->shape[1], memory);
}

}  // namespace

EntrySlices::EntrySlices(const CaptureEntry& entry)
    : entry_(entry), split_(entry.call.buffers.size(), false) {
  for (const Rows& row : SplitKernels()) {
    if (row.kernel != entry.call.kernel) continue;
    by_sample_ = row.by_sample;
    if (by_sample_) rows_ = BatchOf(entry.call);
    if (by_sample_ && rows_ < 2) break;
    for (const std::string_view name : row.operands) {
      for (const CallOperand& operand : entry.call.operands) {
        if (operand.name != name || (by_sample_ && IsOfAll(operand, rows_))) continue;
        split_[operand.buffer] = true;
        if (rows_ > 0) continue;
        rows_ = name == "ids"              ? operand.shape.ElementCount()
                : operand.shape.rank() > 0 ? operand.shape.RowCount()
                                           : 0;
      }
    }
  }
  for (std::size_t i = 0; i < split_.size(); ++i) {
    const CallBuffer& buffer = entry.call.buffers[i];
    const bool fits = rows_ > 0 && buffer.shape.ElementCount() % rows_ == 0 &&
                      (by_sample_ ? HasSamples(buffer, rows_) : buffer.parts.empty()) &&
                      buffer.dtype != DType::kU8;
    if (split_[i] && !fits) rows_ = 0;
  }
  for (const CallOperand& operand : entry.call.operands) {
    const bool counts = operand.shape.rank() > 0 && rows_ > 0 && operand.shape[0] % rows_ == 0;
    if (by_sample_ && split_[operand.buffer] && !counts) rows_ = 0;
  }
  if (rows_ < 2) rows_ = 0;
}

std::int64_t EntrySlices::NeededBytes(std::int64_t rows) const {
  std::int64_t all = 0, wide = 0, outputs = 0, wide_outputs = 0;
  const std::int64_t gathered = rows > 0 ? rows : rows_;
  for (std::size_t i = 0; i < split_.size(); ++i) {
    const CallBuffer& buffer = entry_.call.buffers[i];
    std::int64_t elements = buffer.shape.ElementCount();
    if (rows > 0 && split_[i]) elements = elements / rows_ * rows;
    if (IsTable(entry_, i) && gathered > 0) {
      elements = std::min(elements, gathered * buffer.shape.back());
    }
    const std::int64_t bytes = elements * SizeOf(buffer.dtype), doubles = 8 * elements;
    all += bytes;
    wide += doubles;
    if (buffer.written) outputs += bytes, wide_outputs += doubles;
  }
  // In f64 beside what was recorded; then what was recorded, what came out, a wrong result to try
  // the comparison with, and what f64 came to.
  return std::max(all + wide, all + 4 * outputs + wide_outputs);
}

std::vector<EntrySlice> EntrySlices::Within(std::int64_t budget) const {
  if (NeededBytes(0) <= budget) return {EntrySlice{}};
  if (rows_ == 0 || NeededBytes(1) > budget) return {};
  std::int64_t low = 1, high = rows_;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (NeededBytes(middle) <= budget) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  std::vector<EntrySlice> slices;
  for (std::int64_t begin = 0; begin < rows_; begin += low) {
    slices.push_back({.begin = begin,
                      .count = std::min(low, rows_ - begin),
                      .rows = rows_,
                      .by_sample = by_sample_});
  }
  return slices;
}

// Says of the call what the slice has of it.
CallDescription EntrySlices::CallOf(const EntrySlice& slice) const {
  CallDescription call = entry_.call;
  if (slice.whole()) return call;
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    if (!split_[i]) continue;
    call.buffers[i].shape = SliceShape(entry_.call.buffers[i], slice);
    for (TensorPart& part : call.buffers[i].parts) part.extents = OfSamples(part.extents, slice);
  }
  if (!slice.by_sample) return call;
  for (auto& [name, value] : call.attributes) {
    if (name == kBatch) value = slice.count;
  }
  for (CallOperand& operand : call.operands) {
    if (split_[operand.buffer]) operand.shape = OfSamples(operand.shape, slice);
  }
  return call;
}

CallDescription LoadEntry(CaptureReader& reader, const CaptureEntry& entry,
                          const EntrySlices& slices, const EntrySlice& slice,
                          std::optional<DType> real, Allocator& memory) {
  CallDescription call = slices.CallOf(slice);
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    CallBuffer& buffer = call.buffers[i];
    const bool is_cut = !slice.whole() && slices.IsSplit(i);
    if (!buffer.read || IsTable(entry, i)) continue;
    if (is_cut) {
      buffer.tensor = LoadSlice(reader, entry, i, Moment::kBefore, slice, memory);
    } else if (buffer.written) {
      buffer.tensor = reader.Read(entry, i, Moment::kBefore, memory);
    } else {
      buffer.tensor = reader.View(entry, i, Moment::kBefore, memory);
    }
  }
  if (call.kernel == "gather") GatherRows(reader, entry, call, memory);
  for (CallOperand& operand : call.operands) {
    const CallBuffer& buffer = call.buffers[operand.buffer];
    const Shape& held = buffer.tensor ? buffer.tensor.shape() : buffer.shape;
    if (held.ElementCount() != operand.shape.ElementCount()) operand.shape = held;
  }
  for (CallBuffer& buffer : call.buffers) {
    const bool widens = real && (buffer.dtype == DType::kF32 || buffer.dtype == DType::kF64 ||
                                 buffer.dtype == DType::kBF16);
    if (widens) buffer.dtype = *real;
    if (buffer.read) {
      if (buffer.tensor.dtype() != buffer.dtype) {
        buffer.tensor = Converted(buffer.tensor, buffer.dtype, memory);
      }
      continue;
    }
    buffer.tensor = Tensor(memory, buffer.shape, buffer.dtype, MemoryTag::kWorkspace);
    if (buffer.bytes() > 0) {
      std::memset(buffer.tensor.raw(), 0, static_cast<std::size_t>(buffer.bytes()));
    }
  }
  return call;
}

std::vector<Tensor> RecordedOutputs(CaptureReader& reader, const CaptureEntry& entry,
                                    const EntrySlices& slices, const EntrySlice& slice,
                                    Allocator& memory) {
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < entry.call.buffers.size(); ++i) {
    if (!entry.call.buffers[i].written) continue;
    const bool is_cut = !slice.whole() && slices.IsSplit(i);
    outputs.push_back(is_cut ? LoadSlice(reader, entry, i, Moment::kAfter, slice, memory)
                             : reader.View(entry, i, Moment::kAfter, memory));
  }
  return outputs;
}

}  // namespace frugal
