#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace frugal {

// Says what a piece of memory is for. Plans and measurements are kept per purpose.
enum class MemoryTag : std::uint8_t {
  kParameter,       // weights and buffers (running statistics)
  kGradient,        // gradients of parameters
  kOptimizerState,  // momentum, moments
  kActivation,      // values and their gradients inside a step
  kWorkspace,       // scratch of one kernel
  kCommunication,   // buffers of the communicator
  kData,            // data sets and batches
  kSnapshot,        // copies of the state that a snapshot is written from while training goes on
  kPaging,          // pieces of tensors on their way to a page file and back
  kCount
};

inline constexpr auto kMemoryTagCount = static_cast<std::size_t>(MemoryTag::kCount);
inline constexpr std::array<MemoryTag, kMemoryTagCount> kAllMemoryTags = {
    MemoryTag::kParameter,  MemoryTag::kGradient,  MemoryTag::kOptimizerState,
    MemoryTag::kActivation, MemoryTag::kWorkspace, MemoryTag::kCommunication,
    MemoryTag::kData,       MemoryTag::kSnapshot,  MemoryTag::kPaging};

// "parameter", "gradient", "optimizer_state", "activation", "workspace", "communication", "data",
// "snapshot", "paging"
std::string_view NameOf(MemoryTag tag);

// Bytes per purpose.
struct BytesByTag {
  std::array<std::int64_t, kMemoryTagCount> bytes{};

  std::int64_t& operator[](MemoryTag tag) { return bytes[static_cast<std::size_t>(tag)]; }
  std::int64_t operator[](MemoryTag tag) const { return bytes[static_cast<std::size_t>(tag)]; }
  std::int64_t Total() const;
  bool operator==(const BytesByTag&) const = default;
};

}  // namespace frugal
