#pragma once

#include "layers/dense.h"
#include "layers/norms.h"

namespace frugal::architectures {

struct FaceTokensOptions {
  std::int64_t inputs = 512;
  std::int64_t tokens = 4;
  std::int64_t features = 768;  // of each token
};

// Makes of a face's features [N, inputs] what IP-Adapter FaceID does: tokens [N, tokens, features]
// for cross attention, as diffusers' IPAdapterFaceIDImageProjection with twice as many units inside
// as inputs. Parameters: ff.net.0.proj, ff.net.2, norm.
class FaceTokens final : public Module {
 public:
  explicit FaceTokens(const FaceTokensOptions& options);

  Var operator()(Context& context, const Var& face);

 private:
  FaceTokensOptions options_;
  Dense first_;
  Dense second_;
  LayerNormLayer norm_;
};

}  // namespace frugal::architectures
