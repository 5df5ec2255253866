#include "layers/attention.h"
#include "layers/embedding.h"
#include "layers/gated_feed_forward.h"
#include "layers/patch_embedding.h"
#include "tests/support/layer_case_families.h"

namespace frugal::testing {
namespace {

const Shape kSequence = {2, 5, 8};

// Weights that start larger than is usual, so that the scores differ.
AttentionLayerOptions Wide(AttentionLayerOptions options) {
  options.init_std = options.output_init_std = 0.5;
  return options;
}

std::vector<LayerCase> AttentionCases() {
  const auto attention = [](const AttentionLayerOptions& options) {
    return Maker<AttentionLayer>(8, Wide(options));
  };
  const Shape& s = kSequence;
  return {
      {"attention", s, s, 288, attention({.heads = 2})},
      {"attention, causal", s, s, 256, attention({.heads = 4, .causal = true, .bias = false})},
      {"attention, one position", {3, 1, 8}, {3, 1, 8}, 288, attention({.causal = true})},
      {"attention, grouped queries", s, s, 192,
       attention({.heads = 4, .key_heads = 2, .bias = false})},
      {"attention, one key head", s, s, 180, attention({.heads = 4, .key_heads = 1})},
      {"attention, rotary", s, s, 288, attention({.heads = 2, .causal = true, .rotary_base = 10})},
      {"attention, rotary and grouped, apart", s, s, 384,
       attention({.heads = 4,
                  .key_heads = 2,
                  .head_size = 4,
                  .bias = false,
                  .output_bias = false,
                  .fused = false,
                  .rotary_base = 100})},
      {"attention, in to out", s, s, 264,
       attention({.heads = 2,
                  .bias = false,
                  .output_bias = true,
                  .fused = false,
                  .layout = WeightLayout::kInOut})},
  };
}

}  // namespace

std::vector<LayerCase> TransformerLayerCases() {
  std::vector<LayerCase> cases = AttentionCases();
  const Shape& s = kSequence;
  const PatchEmbeddingOptions patches{.image_height = 4,
                                      .image_width = 6,
                                      .patch = 2,
                                      .channels = 3,
                                      .features = 5,
                                      .init_std = 0.3};
  const std::vector<LayerCase> others = {
      {"gated_feed_forward", s, s, 72,
       Maker<GatedFeedForward>(8, GatedFeedForwardOptions{.hidden = 3, .init_std = 0.5})},
      {"gated_feed_forward with gelu and biases",
       {3, 8},
       {3, 8},
       86,
       Maker<GatedFeedForward>(
           8,
           GatedFeedForwardOptions{
               .hidden = 3, .activation = Activation::kGelu, .bias = true, .init_std = 0.5})},
      {"learned_positions", s, s, 56, Maker<LearnedPositions>(8, PositionOptions{.positions = 7})},
      {"sinusoidal_positions", s, s, 0, Maker<SinusoidalPositions>(SinusoidOptions{})},
      {"patch_embedding", {2, 4, 6, 3}, {2, 7, 5}, 105, Maker<PatchEmbedding>(patches)},
  };
  cases.insert(cases.end(), others.begin(), others.end());
  return cases;
}

}  // namespace frugal::testing
