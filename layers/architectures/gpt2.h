#pragma once

#include <memory>
#include <optional>

#include "layers/sequential.h"

namespace frugal {

// Keys of the public checkpoints' config.json.
struct Gpt2Config {
  std::int64_t vocab_size = 50257;
  std::int64_t n_positions = 1024;
  std::int64_t n_embd = 768;
  std::int64_t n_layer = 12;
  std::int64_t n_head = 12;
  std::optional<std::int64_t> n_inner{};  // of the feed-forward part; not given: 4 n_embd
  double layer_norm_epsilon = 1e-5;
  double embd_pdrop = 0;   // dropout behind the embeddings
  double resid_pdrop = 0;  // dropout behind each attention and feed-forward part
  bool tie_word_embeddings = true;
};

// GPT-2 (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019): token
// numbers kI64 [N, T] -> logits [N, T, vocab_size], T <= n_positions. Parameters are named and laid
// out as in its checkpoints: "transformer.h.0.attn.c_attn.weight" is [in, out].
// Throws ConfigError for sizes that do not fit.
std::unique_ptr<Sequential> MakeGpt2(const Gpt2Config& config);

}  // namespace frugal
