#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sdk/module/layer.h"

namespace frugal {

// How the next token is drawn from a network's logits.
struct TokenSampling {
  double temperature = 1;  // logits are divided by it; 0 = always the likeliest
  std::int64_t top_k = 0;  // only among so many likeliest; 0 = among all
  std::uint64_t seed = 0;
};

// Draws one token from logits [V] by a number in [0, 1). The likeliest of equals is the first.
std::int64_t DrawToken(std::span<const float> logits, const TokenSampling& options, double uniform);

struct GenerateOptions {
  std::int64_t count = 200;
  TokenSampling sampling{};
  // Positions that the network may look back over. Where a text outgrows them, it goes on from its
  // last half.
  std::int64_t window = 256;
  std::function<void(std::int64_t token)> on_token{};
  std::function<bool()> stop{};  // asked before each token; true ends the text there
};

// Continues `prompt` by a causal network from tokens [1, T] to logits [1, T, V], one token at a
// time. A network that works by position runs on each position once, with a key/value cache; others
// (recurrent layers, convolutions) run on the last `window` tokens for each new one. Returns the
// new tokens. Throws UsageError for an empty prompt or a window below 2, DataError for logits that
// are no numbers.
std::vector<std::int64_t> Generate(Context& context, Layer& network,
                                   std::span<const std::int64_t> prompt,
                                   const GenerateOptions& options);

}  // namespace frugal
