#include "layers/joins/branches.h"

#include <algorithm>
#include <utility>

namespace frugal {

Branches::Branches(std::vector<Branch> branches, const BranchesOptions& options)
    : branches_(std::move(branches)), combine_(options.combine) {
  for (const Branch& branch : branches_) AddChild(branch.name, *branch.layer);
}

std::string Branches::Describe() const {
  return std::to_string(branches_.size()) + " branches, " + std::string(NameOf(combine_));
}

bool Branches::WorksByPosition() const {
  return std::ranges::all_of(branches_,
                             [](const Branch& branch) { return branch.layer->WorksByPosition(); });
}

Var Branches::Forward(Context& context, const Var& input) {
  std::vector<Var> values;
  values.reserve(branches_.size());
  for (const Branch& branch : branches_) values.push_back((*branch.layer)(context, input));
  return Combined(context, combine_, values);
}

}  // namespace frugal
