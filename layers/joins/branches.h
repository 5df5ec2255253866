#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layers/joins/combine.h"
#include "sdk/module/layer.h"

namespace frugal {

struct BranchesOptions {
  Combine combine = Combine::kConcat;
};

// Combines what several layers make of one input: an inception block, gates, pyramids. Their
// parameters lie under their names.
class Branches final : public Layer {
 public:
  struct Branch {
    std::string name;
    std::unique_ptr<Layer> layer;
  };
  // Takes at least one branch.
  Branches(std::vector<Branch> branches, const BranchesOptions& options);

  std::string Describe() const override;
  bool TakesTokens() const override { return true; }  // its first layers decide
  bool WorksByPosition() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  std::vector<Branch> branches_;
  Combine combine_;
};

}  // namespace frugal
