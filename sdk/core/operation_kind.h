#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace frugal {

// Names what a kernel does, for profiles: where the time of a step goes.
enum class OperationKind : std::uint8_t {
  kMatmul,
  kConvolution,
  kAttention,
  kNorm,
  kActivation,
  kElementwise,  // sums, scales, dropout, reductions, fills
  kLoss,         // with softmax
  kPooling,
  kEmbedding,  // rows gathered from a table and added back to it
  kRecurrent,  // gates of a time step, without their products
  kResample,
  kOptimizer,
  kCopy,           // the same values in another order or place
  kData,           // batches in, results out
  kCommunication,  // between devices, with the time that one waits for another
  kCount
};
inline constexpr auto kOperationKindCount = static_cast<std::size_t>(OperationKind::kCount);
std::string_view NameOf(OperationKind kind);  // "matmul", "convolution", ...

}  // namespace frugal
