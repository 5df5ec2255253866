#include "sdk/capture/verify/null_tests.h"

#include <cstring>

#include "sdk/capture/replay.h"

namespace frugal {
namespace {

constexpr std::size_t kMostSwaps = 3;

// Moves bytes [0, shift) behind the others.
Tensor Rolled(const Tensor& from, Allocator& memory) {
  Tensor to(memory, from.shape(), from.dtype(), MemoryTag::kWorkspace);
  const auto all = static_cast<std::size_t>(from.bytes());
  const auto one = static_cast<std::size_t>(SizeOf(from.dtype()));
  const auto* in = static_cast<const std::byte*>(from.raw());
  auto* out = static_cast<std::byte*>(to.raw());
  std::memcpy(out, in + one, all - one);
  std::memcpy(out + all - one, in, one);
  return to;
}

Tensor Reversed(const Tensor& from, Allocator& memory) {
  Tensor to(memory, from.shape(), from.dtype(), MemoryTag::kWorkspace);
  const auto one = static_cast<std::size_t>(SizeOf(from.dtype()));
  const auto count = static_cast<std::size_t>(from.size());
  const auto* in = static_cast<const std::byte*>(from.raw());
  auto* out = static_cast<std::byte*>(to.raw());
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(out + (count - 1 - i) * one, in + i * one, one);
  return to;
}

Tensor Zeros(const Tensor& like, Allocator& memory) {
  Tensor to(memory, like.shape(), like.dtype(), MemoryTag::kWorkspace);
  std::memset(to.raw(), 0, static_cast<std::size_t>(to.bytes()));
  return to;
}

bool IsOnlyRead(const CallBuffer& buffer) { return buffer.read && !buffer.written; }

}  // namespace

std::vector<NullCandidate> NullCandidates(const CallDescription& call, NullExcuses excuses,
                                          const Tensor& right) {
  std::vector<NullCandidate> candidates;
  if (right.bytes() == 0) return candidates;
  if (!excuses.zeros) {
    candidates.push_back({"zeros", [&](Allocator& memory) { return Zeros(right, memory); }});
  }
  for (const CallBuffer& buffer : call.buffers) {
    const bool is_like = buffer.read && buffer.tensor && buffer.tensor.size() == right.size() &&
                         buffer.dtype != DType::kI64 && buffer.dtype != DType::kU8;
    if (!is_like || excuses.copy) continue;
    candidates.push_back({"a copy of " + buffer.name, [&](Allocator& memory) {
                            return Converted(buffer.tensor, right.dtype(), memory);
                          }});
  }
  if (excuses.order || right.size() < 2) return candidates;
  candidates.push_back(
      {"values moved by one", [&](Allocator& memory) { return Rolled(right, memory); }});
  candidates.push_back(
      {"values in reverse", [&](Allocator& memory) { return Reversed(right, memory); }});
  return candidates;
}

std::vector<SwappedCall> SwappedCalls(const CallDescription& call, NullExcuses excuses) {
  std::vector<SwappedCall> swapped;
  for (std::size_t i = 0; i < call.buffers.size(); ++i) {
    for (std::size_t j = i + 1; j < call.buffers.size(); ++j) {
      const CallBuffer &a = call.buffers[i], &b = call.buffers[j];
      if (!IsOnlyRead(a) || !IsOnlyRead(b) || a.shape != b.shape || a.dtype != b.dtype) continue;
      if (a.name == excuses.either && b.name == excuses.other) continue;
      if (swapped.size() == kMostSwaps) return swapped;
      swapped.push_back({a.name + " and " + b.name + " swapped", call});
      std::swap(swapped.back().call.buffers[i].tensor, swapped.back().call.buffers[j].tensor);
    }
  }
  return swapped;
}

}  // namespace frugal
