#include "sdk/capture/verify/rounding_floor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "sdk/capture/replay.h"
#include "sdk/capture/verify/error_measure.h"
#include "sdk/memory/system_memory.h"

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

bool IsSet(const CallDescription& call, std::string_view name) {
  for (const auto& [key, value] : call.attributes) {
    if (key == name) return std::holds_alternative<bool>(value) && std::get<bool>(value);
  }
  return false;
}

double NumberOf(const CallDescription& call, std::string_view name) {
  for (const auto& [key, value] : call.attributes) {
    if (key == name && std::holds_alternative<double>(value)) return std::get<double>(value);
  }
  return 0;
}

// Returns an operand as f64; `size` times `otherwise` where it is not given.
std::vector<double> NumbersOf(const CallDescription& call, std::string_view name, std::size_t size,
                              double otherwise) {
  std::vector<double> numbers(size, otherwise);
  const CallBuffer* buffer = call.BufferOf(name);
  if (buffer == nullptr || !buffer->tensor) return numbers;
  HeapAllocator heap;
  const Tensor wide = Converted(buffer->tensor, DType::kF64, heap);
  const std::span<double> values = wide.values<double>();
  std::copy_n(values.begin(), std::min(size, values.size()), numbers.begin());
  return numbers;
}

}  // namespace

double ShareAtCut(const CallDescription& call) {
  const bool of_batch = call.kernel == "norm_batch_backward";
  const bool of_running = call.kernel == "norm_batch_inference_backward";
  if ((!of_batch && !of_running) || !IsSet(call, "relu")) return 0;
  const CallBuffer* x = call.BufferOf("x");
  if (x == nullptr || call.BufferOf("y") != nullptr || x->shape.rank() == 0) return 0;
  const auto channels = static_cast<std::size_t>(x->shape.back());
  const auto size = static_cast<std::size_t>(x->shape.ElementCount());
  const std::vector<double> values = NumbersOf(call, "x", size, 0);
  const std::vector<double> mean = NumbersOf(call, of_batch ? "mean" : "running_mean", channels, 0);
  std::vector<double> rstd = NumbersOf(call, of_batch ? "rstd" : "running_variance", channels, 1);
  if (of_running) {
    for (double& r : rstd) r = 1 / std::sqrt(r + NumberOf(call, "epsilon"));
  }
  const std::vector<double> weight = NumbersOf(call, "weight", channels, 1);
  const std::vector<double> bias = NumbersOf(call, "bias", channels, 0);
  const double rounding = 4 * EpsilonOf(DType::kF32);
  std::size_t close = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t c = i % channels;
    const double scale = rstd[c] * weight[c];
    const double y = (values[i] - mean[c]) * scale + bias[c];
    const double terms =
        (std::abs(values[i]) + std::abs(mean[c])) * std::abs(scale) + std::abs(bias[c]);
    if (std::abs(y) < rounding * terms) ++close;
  }
  return size > 0 ? static_cast<double>(close) / static_cast<double>(size) : 0;
}

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
