#pragma once

#include "layers/blocks/patch_tokens.h"

namespace frugal {

struct PositionedPatchesOptions {
  PatchTokensOptions patches{};
  std::int64_t longest = 96;  // height and width of the table of positions, in patches
  double step = 1;            // between the positions of neighbouring patches
};

// Patches of an image [N, H, W, C] as a grid of tokens [N, H / p, W / p, features], and to each the
// sinusoids of its place, cut from the middle of a square table (Esser et al., arXiv:2403.03206,
// section 5.3.2). Parameters: those of PatchTokens under "proj", and the buffer pos_embed
// [1, longest^2, features]. Throws ShapeError for images larger than the table.
class PositionedPatches final : public Layer {
 public:
  explicit PositionedPatches(const PositionedPatchesOptions& options);

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;
  // [1, height, width, features]
  Var Positions(Context& context, std::int64_t height, std::int64_t width) const;

  PositionedPatchesOptions options_;
  PatchTokens patches_;
  const Parameter& table_;
};

}  // namespace frugal
