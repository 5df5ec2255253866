#pragma once

#include <memory>
#include <optional>

#include "layers/sequential.h"

namespace frugal {

// Keys of the public checkpoints' config.json.
struct LlamaConfig {
  std::int64_t vocab_size = 32000;
  std::int64_t hidden_size = 4096;
  std::int64_t intermediate_size = 11008;
  std::int64_t num_hidden_layers = 32;
  std::int64_t num_attention_heads = 32;
  std::optional<std::int64_t> num_key_value_heads{};  // not given: num_attention_heads
  std::optional<std::int64_t> head_dim{};             // not given: hidden_size / heads
  std::int64_t max_position_embeddings = 2048;        // the longest sequence
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000;
  bool attention_bias = false;
  bool mlp_bias = false;
  bool tie_word_embeddings = false;
};

// Llama (Touvron et al., arXiv:2302.13971; grouped queries: arXiv:2307.09288): token numbers kI64
// [N, T] -> logits [N, T, vocab_size]. Parameters as in its public checkpoints:
// "model.layers.0.self_attn.q_proj.weight". Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeLlama(const LlamaConfig& config);

}  // namespace frugal
