#include "sdk/train/generate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/core/random.h"
#include "sdk/module/key_value_cache.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

// The context generates while this lives.
class CacheScope {
 public:
  CacheScope(Context& context, KeyValueCache* cache) : context_(context) {
    context_.set_cache(cache);
  }
  CacheScope(const CacheScope&) = delete;
  CacheScope& operator=(const CacheScope&) = delete;
  ~CacheScope() { context_.set_cache(nullptr); }

 private:
  Context& context_;
};

// The logits behind the last of `tokens`, which come behind what the cache, if any, holds.
std::vector<float> LastLogits(Context& context, Layer& network,
                              std::span<const std::int64_t> tokens) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  const Tensor input = context.Allocate({1, count}, DType::kI64, MemoryTag::kData);
  context.Launch({OperationKind::kData, BytesOf(input)}, [&](Backend&, void*) {
    std::ranges::copy(tokens, input.values<std::int64_t>().begin());
  });
  const Var output = CastToF32(context, network(context, {input, Var::kNoGradient}));
  if (context.cache() != nullptr) context.cache()->Advance(count);
  const Tensor last = output.value.Reshape({count, output.shape().back()}).Narrow(count - 1, 1);
  std::vector<float> logits;
  context.Launch({OperationKind::kData, BytesOf(last)}, [&](Backend&, void*) {
    if (last.dtype() == DType::kF64) {
      for (const double value : last.values<double>()) logits.push_back(static_cast<float>(value));
    } else {
      logits.assign(last.values<float>().begin(), last.values<float>().end());
    }
  });
  return logits;
}

// Reads a growing text, as much of it again as the network needs.
class Reader {
 public:
  Reader(Context& context, Layer& network, std::int64_t window)
      : context_(context),
        network_(network),
        window_(static_cast<std::size_t>(window)),
        by_position_(network.WorksByPosition()) {}

  // The logits behind the text's last token.
  std::vector<float> Read(std::span<const std::int64_t> text) {
    if (!by_position_) {
      return LastLogits(context_, network_, text.last(std::min(text.size(), window_)));
    }
    const std::size_t held = cache_ ? static_cast<std::size_t>(cache_->length()) : 0;
    if (!cache_ || held + text.size() - seen_ > window_) {
      cache_ = std::make_unique<KeyValueCache>(static_cast<std::int64_t>(window_));
      seen_ = text.size() > window_ ? text.size() - window_ / 2 : 0;
    }
    const CacheScope scope(context_, cache_.get());
    return LastLogits(context_, network_, text.subspan(std::exchange(seen_, text.size())));
  }

 private:
  Context& context_;
  Layer& network_;
  std::size_t window_;
  bool by_position_;
  std::unique_ptr<KeyValueCache> cache_;
  std::size_t seen_ = 0;  // tokens that have been read into the cache, or dropped before it
};

void Check(std::span<const std::int64_t> prompt, const GenerateOptions& options) {
  if (!prompt.empty() && options.window >= 2) return;
  throw UsageError({.where = "Generate",
                    .required = "a prompt of at least one token and a window of at least two",
                    .given = std::to_string(prompt.size()) + " tokens and a window of " +
                             std::to_string(options.window),
                    .advice = "begin with a line break, if with nothing else"});
}

// -infinity is an impossible token; NaN is a network that has come apart.
void CheckNumbers(std::span<const float> logits) {
  if (std::ranges::none_of(logits, [](float value) { return std::isnan(value); })) return;
  throw DataError(
      {.where = "Generate",
       .required = "the network's outputs are numbers",
       .given = "there are NaNs among them",
       .advice = "train with a lower rate, or clip_gradient_norm; these weights are lost"});
}

}  // namespace

std::int64_t DrawToken(std::span<const float> logits, const TokenSampling& options,
                       double uniform) {
  CheckNumbers(logits);
  std::vector<std::size_t> order(logits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (options.temperature <= 0) return static_cast<std::int64_t>(order.front());
  if (options.top_k > 0 && static_cast<std::size_t>(options.top_k) < order.size()) {
    order.resize(static_cast<std::size_t>(options.top_k));
  }
  const double highest = logits[order.front()];
  std::vector<double> weights;
  double total = 0;
  for (const std::size_t token : order) {
    weights.push_back(
        std::exp((static_cast<double>(logits[token]) - highest) / options.temperature));
    total += weights.back();
  }
  double left = uniform * total;
  for (std::size_t i = 0; i < order.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<std::int64_t>(order[i]);
  }
  return static_cast<std::int64_t>(order.back());
}

std::vector<std::int64_t> Generate(Context& context, Layer& network,
                                   std::span<const std::int64_t> prompt,
                                   const GenerateOptions& options) {
  Check(prompt, options);
  context.set_training(false);
  const TapeScope no_tape(context, nullptr);
  const std::uint64_t key = StreamKey(options.sampling.seed, "generate", 0);
  std::vector<std::int64_t> text(prompt.begin(), prompt.end());
  Reader reader(context, network, options.window);
  for (std::int64_t i = 0; i < options.count; ++i) {
    if (options.stop && options.stop()) break;
    const std::vector<float> logits = reader.Read(text);
    text.push_back(
        DrawToken(logits, options.sampling, UniformAt(key, static_cast<std::uint64_t>(i))));
    if (options.on_token) options.on_token(text.back());
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
}

}  // namespace frugal
