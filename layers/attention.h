#pragma once

#include "sdk/backend/product_kernels.h"
#include "sdk/module/layer.h"
#include "sdk/ops/attention.h"

namespace frugal {

// The parts of an attention layer in parameter paths, with ".weight" and ".bias" behind them;
// behind a name that ends in "_" without the dot: PyTorch's in_proj_weight.
struct AttentionNames {
  std::string fused = "qkv";  // where the three projections are one
  std::string query = "query";
  std::string key = "key";
  std::string value = "value";
  std::string output = "out";
  // Keys and values of a second memory (AttendBoth); empty: there is none.
  std::string second_key = "";
  std::string second_value = "";
};

struct AttentionLayerOptions {
  std::int64_t heads = 1;
  std::int64_t key_heads = 0;  // 0 = heads; fewer: grouped queries (arXiv:2305.13245)
  std::int64_t head_size = 0;  // 0 = features / heads
  bool causal = false;
  bool bias = true;
  std::optional<bool> output_bias{};  // of the output's projection; not given: as bias
  bool fused = true;                  // queries, keys and values from one product
  double rotary_base = 0;             // 0 = no rotary positions (arXiv:2104.09864)
  std::int64_t longest = 0;           // positions that rotary angles are meant for; 0 = any number
  WeightLayout layout = WeightLayout::kOutIn;
  double init_std = 0.02;         // of the normal distribution that weights start from
  double output_init_std = 0.02;  // of the output's
};

// Multi-head attention (Vaswani et al., arXiv:1706.03762) without a score matrix:
// x [N, T, D] -> [N, T, D]. Over itself as a layer; over something else, or with a mask, by Attend.
class AttentionLayer final : public Layer {
 public:
  // `memory_features`: of what keys and values are made from (cross attention, not fused); 0 = D.
  // Throws ConfigError where heads do not divide.
  AttentionLayer(std::int64_t features, const AttentionLayerOptions& options,
                 const AttentionNames& names = {}, std::int64_t memory_features = 0);

  LayerKind kind() const override { return LayerKind::kAttention; }
  bool WorksByPosition() const override { return options_.causal; }
  std::string Describe() const override;

  std::optional<Projection> LastProjection() const override {
    return Projection{output_.weight, output_.bias, options_.layout};
  }

  // Queries from x [N, T, D], keys and values from memory [N, S, memory features]; `mask` is added
  // to the scores, [1 or N, 1 or heads, T, S], or empty. Throws UsageError for a memory other than
  // x where the projections are fused, ShapeError where rotary positions are to rotate it.
  Var Attend(Context& context, const Var& x, const Var& memory, const Tensor& mask = {});
  // Attends with the same queries to two memories, whose results add up before the output's
  // projection: decoupled cross attention (Ye et al., arXiv:2308.06721, equation 5). Only with
  // names of the second one's projections, and not fused.
  Var AttendBoth(Context& context, const Var& x, const Var& memory, const Var& second);

 private:
  struct Linear {
    const Parameter* weight = nullptr;
    const Parameter* bias = nullptr;
  };
  struct Heads {
    VarHeads q, k, v;
  };

  Var Forward(Context& context, const Var& input) override;
  Var ForwardUpToProjection(Context& context, const Var& input) override;
  // Without the output's projection.
  Var AttendHeads(Context& context, const Var& x, const Var& memory, const Tensor& mask);
  Var Attended(Context& context, const Var& x, const Var& memory, const Tensor& mask);
  Var AttendedBoth(Context& context, const Var& x, const Var& memory, const Var& second);
  Linear AddLinear(const std::string& name, std::int64_t inputs, std::int64_t outputs, bool bias,
                   double init_std);
  void CheckInput(Context& context, const Var& x) const;
  void CheckMemory(Context& context, const Var& x, const Var& memory) const;
  void CheckLength(Context& context, const Var& x) const;
  Var Apply(Context& context, const Linear& linear, const Var& x) const;
  Heads ProjectFused(Context& context, const Var& x);
  Heads ProjectApart(Context& context, const Var& x, const Var& memory);
  void RotateByPosition(Context& context, Heads& heads);
  Var Mix(Context& context, const Heads& heads, const Tensor& mask) const;
  VarHeads Remember(Context& context, const VarHeads& heads, const std::string& name);
  std::int64_t QueryWidth() const { return options_.heads * options_.head_size; }
  std::int64_t KeyWidth() const { return options_.key_heads * options_.head_size; }

  std::int64_t features_;
  AttentionLayerOptions options_;
  Linear fused_, query_, key_, value_, output_;
  Linear second_key_, second_value_;
};

}  // namespace frugal
