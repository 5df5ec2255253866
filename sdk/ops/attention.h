#pragma once

#include "sdk/autograd/context.h"
#include "sdk/backend/attention_kernels.h"

namespace frugal {

// Heads inside a variable [B, T, row]; see HeadsView.
struct VarHeads {
  Var source;
  std::int64_t offset = 0;
};

struct AttentionOptions {
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;  // divides heads
  std::int64_t head_size = 1;
  double scale = 0;  // 0 = 1 / sqrt(head_size)
  bool causal = false;
  Tensor mask = {};  // added to the scores, [1 or B, 1 or H, 1 or Tq, Tk]; not differentiated
};

// softmax(scale q k^T + mask) v -> [B, Tq, heads * head_size]. q, k and v may be parts of one
// variable, whose gradient is then written once. Keeps its inputs, its output and one number per
// query and head.
Var Attention(Context& context, const VarHeads& q, const VarHeads& k, const VarHeads& v,
              const AttentionOptions& options);

}  // namespace frugal
