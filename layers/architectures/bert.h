#pragma once

#include <memory>

#include "layers/sequential.h"

namespace frugal {

// Keys of the public checkpoints' config.json.
struct BertConfig {
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;
  std::int64_t intermediate_size = 3072;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  std::int64_t pad_token_id = 0;  // its row of the table is not trained
  double layer_norm_eps = 1e-12;
  double hidden_dropout_prob = 0;
};

// BERT's encoder (Devlin et al., arXiv:1810.04805) without pooler or head, all tokens of type 0:
// token numbers kI64 [N, T] -> the last hidden state [N, T, hidden_size]. Parameters as in its
// public checkpoints: "encoder.layer.0.attention.self.query.weight". Throws ConfigError for sizes
// that do not fit.
std::unique_ptr<Sequential> MakeBert(const BertConfig& config);

}  // namespace frugal
