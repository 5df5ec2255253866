#include <algorithm>

#include "sdk/core/utf8.h"
#include "sdk/io/weights/safetensors_header.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

std::string Place(const SafetensorsEntry& entry) {
  return QuotedName(entry.tensor.name) + " at bytes " + std::to_string(entry.begin) + " to " +
         std::to_string(entry.end);
}

// The tensor that reaches furthest tells how much of the file is missing.
void CheckInside(const std::string& path, const std::vector<SafetensorsEntry>& entries,
                 std::int64_t data_bytes) {
  const auto last = std::ranges::max_element(entries, {}, &SafetensorsEntry::end);
  if (last == entries.end() || last->end <= data_bytes) return;
  RefuseWeights(path, "all tensors lie inside the file",
                "tensor " + Place(*last) + " reaches past the end of the data at byte " +
                    std::to_string(data_bytes),
                "the file is cut short; fetch or write it again");
}

}  // namespace

void CheckSafetensorsPlaces(const std::string& path, const std::vector<SafetensorsEntry>& entries,
                            std::int64_t data_bytes) {
  CheckInside(path, entries, data_bytes);
  std::int64_t reached = 0;
  const SafetensorsEntry* before = nullptr;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin < reached) {
      RefuseWeights(path, "tensors do not overlap",
                    "tensor " + Place(entry) + " overlaps tensor " + Place(*before),
                    "write the file again");
    }
    if (entry.begin > reached) {
      RefuseWeights(path, "tensors follow each other without gaps",
                    "bytes " + std::to_string(reached) + " to " + std::to_string(entry.begin) +
                        " before tensor " + QuotedName(entry.tensor.name) + " belong to no tensor",
                    "write the file again");
    }
    reached = entry.end;
    before = &entry;
  }
  if (reached == data_bytes) return;
  RefuseWeights(path, "the file ends with its last tensor",
                std::to_string(data_bytes - reached) + " bytes follow it", "write the file again");
}

}  // namespace frugal
