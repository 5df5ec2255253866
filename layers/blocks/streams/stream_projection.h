#pragma once

#include <string>

#include "layers/dense.h"

namespace frugal {

// Names what queries and keys go through head by head before they meet.
enum class QueryKeyNorm : std::uint8_t { kNone, kRms, kLayer };

struct StreamHeads {
  std::int64_t heads = 1;
  std::int64_t head_size = 1;
  QueryKeyNorm norm = QueryKeyNorm::kNone;
  double eps = 1e-6;  // of the norm

  std::int64_t width() const { return heads * head_size; }
};

// The parts in parameter paths, with ".weight" and ".bias" behind them.
struct StreamProjectionNames {
  std::string query = "to_q";
  std::string key = "to_k";
  std::string value = "to_v";
  std::string query_norm = "norm_q";
  std::string key_norm = "norm_k";
};

struct QueriesKeysValues {
  Var q, k, v;  // [N, T, heads * head_size]
};

// One stream's queries, keys and values: [N, T, features], or a grid of tokens [N, ..., features],
// projected three times; queries and keys normalized over each head (Henry et al.,
// arXiv:2010.04245; Dehghani et al., arXiv:2302.05442). Parameters: the three weights
// [heads * head_size, features] and biases, and of the norms weight (of kLayer, bias too)
// [head_size].
class StreamProjection final : public Module {
 public:
  StreamProjection(std::int64_t features, const StreamHeads& heads, bool bias,
                   const StreamProjectionNames& names = {});

  QueriesKeysValues operator()(Context& context, const Var& x);

 private:
  struct Norm {
    const Parameter* weight = nullptr;
    const Parameter* bias = nullptr;
  };
  Norm AddNorm(const std::string& name);
  Var Normed(Context& context, const Norm& norm, const Var& x) const;

  StreamHeads heads_;
  Dense query_, key_, value_;
  Norm query_norm_, key_norm_;
};

// A grid of tokens [N, ..., D] as the sequence [N, T, D].
Var TokensOf(Context& context, const Var& grid);

}  // namespace frugal
