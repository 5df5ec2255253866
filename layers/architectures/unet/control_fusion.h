#pragma once

#include <memory>
#include <vector>

#include "layers/attention.h"
#include "layers/dense.h"
#include "layers/norms.h"

namespace frugal::architectures {

struct ControlFusionOptions {
  std::int64_t channels = 320;
  std::int64_t heads = 8;
  std::int64_t layers = 1;
  std::int64_t types = 6;                // that there are
  std::vector<std::int64_t> hint_types;  // one for each hint
  std::size_t first_hint = 3;            // in the tuple
};

// x + attention(ln_1(x)), then x + mlp(ln_2(x)) with a quick GELU between mlp.c_fc and mlp.c_proj.
// Parameters: ln_1, attn.in_proj_weight, attn.in_proj_bias, attn.out_proj, ln_2, mlp.
class ControlTransformerBlock final : public Module {
 public:
  ControlTransformerBlock(std::int64_t features, std::int64_t heads);

  // x [B, T, D] -> [B, T, D], attention over T
  Var operator()(Context& context, const Var& x);

 private:
  LayerNormLayer norm1_;
  AttentionLayer attention_;
  LayerNormLayer norm2_;
  Dense in_;
  Dense out_;
};

// Adds several hints to x (ControlNet++, github.com/xinsir6/ControlNetPlus; diffusers'
// ControlNetUnionModel): each hint itself, and a shift of every channel that a transformer makes of
// the hint's mean over its pixels and of its type's row of task_embedding [types, channels].
//
// As published, the transformer attends along the batch: its attention takes [positions, batch,
// channels] and is given [batch, hints, channels]. So each hint attends to the hints of the same
// type of all samples in the batch, not to the other hints of its sample; alone in its batch, a
// sample's attention hands its values through. The published weights have been trained so, and it
// is what this computes: a sample's result depends on the others in its batch, and a batch that
// goes through in parts has other numbers, as with batch norm. The mean of x is given to the
// published transformer beside the hints, and nothing reads what becomes of it: it is left out
// here.
//
// {x [N, H, W, C], c, context, ..., hints [N, H, W, C]} -> {x', c, context} and x' as the first
// skip. Parameters: task_embedding, transformer_layes.N (sic), spatial_ch_projs.
class ControlFusion final : public TupleLayer {
 public:
  explicit ControlFusion(const ControlFusionOptions& options);

  LayerKind kind() const override { return LayerKind::kBlock; }
  bool MixesSamples() const override { return true; }
  std::string Describe() const override;

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;
  // [hints, N, C]: the batch is what is attended over
  Var Tokens(Context& context, const VarTuple& vars) const;

  ControlFusionOptions options_;
  const Parameter& task_embedding_;
  std::vector<std::unique_ptr<ControlTransformerBlock>> blocks_;
  Dense projection_;
};

}  // namespace frugal::architectures
