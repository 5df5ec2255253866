#include "sdk/capture/verify/rounding_floor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "sdk/capture/verify/error_measure.h"

namespace frugal {
namespace {

double LargestOf(const CallDescription& call, std::string_view operand) {
  const CallBuffer* buffer = call.BufferOf(operand);
  return buffer != nullptr && buffer->read && buffer->tensor ? LargestMagnitude(buffer->tensor) : 0;
}

std::vector<double> Magnitudes(const CallDescription& call) {
  std::vector<double> sizes;
  for (const CallBuffer& buffer : call.buffers) {
    const bool counts =
        buffer.read && buffer.tensor && buffer.name != "mask" && buffer.name != "log_sum_exp";
    if (counts) sizes.push_back(LargestMagnitude(buffer.tensor));
  }
  std::ranges::sort(sizes, std::greater());
  sizes.resize(std::max<std::size_t>(sizes.size(), 2), 0);
  return sizes;
}

bool StartsWithAny(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view begin) { return text.starts_with(begin); });
}

constexpr auto kProducts =
    std::to_array<std::string_view>({"linear_", "conv_", "batched_product", "attention_"});
constexpr auto kNorms = std::to_array<std::string_view>({"norm_", "rms_", "modul", "gated_add"});
constexpr auto kSums = std::to_array<std::string_view>(
    {"sum_to", "scatter_add", "softmax_", "cross_entropy_", "weighted_cross_entropy_", "row_loss_",
     "ctc_", "pool_average", "pool_adaptive", "pool_max_backward", "resample_", "rotate", "lstm_",
     "gru_", "gated_", "sine_cosine_backward", "linear_backward_weight"});

}  // namespace

double LargestTerms(const CallDescription& call, double flops) {
  const std::string_view kernel = call.kernel;
  const std::vector<double> sizes = Magnitudes(call);
  if (StartsWithAny(kernel, kProducts)) {
    std::int64_t largest = 1;
    for (const CallBuffer& buffer : call.buffers) {
      if (buffer.written) largest = std::max(largest, buffer.shape.ElementCount());
    }
    const double terms = std::max(1.0, flops / 2 / static_cast<double>(largest));
    return std::max(sizes[0] * sizes[1] * std::sqrt(terms), sizes[0]);
  }
  if (StartsWithAny(kernel, kNorms)) {
    const double data = std::max({LargestOf(call, "dy"), LargestOf(call, "x"), 0.0});
    return data * std::max(1.0, LargestOf(call, "rstd")) * std::max(1.0, LargestOf(call, "weight"));
  }
  if (StartsWithAny(kernel, kSums)) return sizes[0];
  return 0;
}

}  // namespace frugal
