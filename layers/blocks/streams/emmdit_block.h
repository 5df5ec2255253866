#pragma once

#include <memory>

#include "layers/blocks/streams/joint_attention.h"
#include "layers/blocks/streams/stream_feed_forward.h"
#include "layers/blocks/subregions.h"

namespace frugal {

struct EmmditBlockOptions {
  std::int64_t features = 0;
  StreamHeads heads{};
  Subregions regions{};       // that attention stays within
  bool ends_context = false;  // the last one: the context is read, not handed on
};

// A block of two streams that share one modulation with all blocks, and change it by a scale and a
// shift of their own (AdaLN-affine of Nitro-E; github.com/AMD-AGI/Nitro-E). {x [N, ..., D], context
// [N, S, D], m [N, 6 D], ...} -> the same, without the context where it ends. Parameters: norm1,
// norm1_context, attn, ff and ff_context, scale_shift_scale and scale_shift_bias [6, D], and these
// of the context with "_c" behind.
class EmmditBlock final : public TupleLayer {
 public:
  explicit EmmditBlock(const EmmditBlockOptions& options);

  LayerKind kind() const override { return LayerKind::kBlock; }
  std::string Describe() const override;

 private:
  struct Affine {
    const Parameter* scale = nullptr;
    const Parameter* shift = nullptr;
  };
  struct Norm {
    const Parameter* weight = nullptr;
    const Parameter* bias = nullptr;
  };

  void ForwardTuple(Context& context, VarTuple& vars) override;
  Affine AddAffine(const std::string& ending);
  Norm AddNorm(const std::string& name);
  // Shift, scale, gate of attention, then of the feed-forward part.
  std::vector<Var> ModulationOf(Context& context, const Affine& affine, const Var& m) const;
  Streams Attended(Context& context, const Var& x, const Var& text);
  Var NormedContext(Context& context, const Var& text, const std::vector<Var>& m) const;

  EmmditBlockOptions options_;
  Affine affine_, context_affine_;
  Norm norm_, context_norm_;
  JointAttention attention_;
  StreamFeedForward feed_forward_;
  std::unique_ptr<StreamFeedForward> context_feed_forward_;
};

}  // namespace frugal
