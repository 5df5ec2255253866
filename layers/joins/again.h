#pragma once

#include <string>
#include <utility>

#include "sdk/module/layer.h"

namespace frugal {

// Lists of layers run a layer of theirs once more by its name.
struct AgainOptions {
  std::string layer;
};

// Runs an earlier layer of the same network once more, with the same parameters: towers of a
// siamese network (Bromley et al., NIPS 1993). Dropout inside draws the same mask both times. The
// layer must live as long as this one.
class Again final : public TupleLayer {
 public:
  Again(AgainOptions options, Layer& layer) : options_(std::move(options)), layer_(layer) {}

  LayerKind kind() const override { return layer_.kind(); }
  std::string Describe() const override { return options_.layer + " again"; }
  bool TakesTokens() const override { return layer_.TakesTokens(); }
  bool MixesSamples() const override { return layer_.MixesSamples(); }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override { layer_(context, vars); }

  AgainOptions options_;
  Layer& layer_;
};

}  // namespace frugal
