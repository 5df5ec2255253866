#include "builders/run/copy_training.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

// Describes a layer with its sizes.
std::string DescriptionOf(const Module& module) {
  const auto* layer = dynamic_cast<const Layer*>(&module);
  return layer == nullptr ? "" : layer->Describe();
}

// The path of the first module in which two trees differ; nothing where they do not.
std::optional<std::string> FirstDifference(const Module& a, const Module& b) {
  const auto &inside_a = a.children(), &inside_b = b.children();
  const bool same_names =
      std::ranges::equal(inside_a, inside_b, {}, &Module::Child::name, &Module::Child::name);
  if (!same_names || DescriptionOf(a) != DescriptionOf(b)) return a.path();
  for (std::size_t i = 0; i < inside_a.size(); ++i) {
    auto found = FirstDifference(*inside_a[i].module, *inside_b[i].module);
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<std::string> FirstDifference(const std::vector<Parameter*>& a,
                                           const std::vector<Parameter*>& b) {
  const auto differ = [](const Parameter* one, const Parameter* other) {
    return one->path != other->path || !(one->shape == other->shape);
  };
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (differ(a[i], b[i])) return a[i]->path;
  }
  if (a.size() == b.size()) return std::nullopt;
  return a.size() > b.size() ? a[b.size()]->path : b[a.size()]->path;
}

void CheckSame(const PlannedTraining& original, const PlannedTraining& built) {
  auto found = FirstDifference(*original.network, *built.network);
  if (!found) found = FirstDifference(original.parameters, built.parameters);
  if (!found) return;
  throw UsageError({.where = "Model::Clone",
                    .required = "the network is the one that the configuration builds",
                    .given = "it is another" + (found->empty() ? "" : ", at '" + *found + "'"),
                    .advice = "make a second model as this one was made, and give it the weights "
                              "by SaveWeights and LoadWeights"});
}

// Cuts every list of a tree as its original is cut, and lets the same layers run once.
void CopySegments(const Module& from, Module& to) {
  if (const auto* layer = dynamic_cast<const Layer*>(&from)) {
    dynamic_cast<Layer&>(to).set_recompute(layer->recompute());
  }
  const auto* list = dynamic_cast<const Sequential*>(&from);
  if (list != nullptr) {
    auto& copy = dynamic_cast<Sequential&>(to);
    list->cuts_leaves() ? copy.SetLeafSegments(list->segments())
                        : copy.SetSegments(list->segments());
  }
  for (std::size_t i = 0; i < from.children().size(); ++i) {
    CopySegments(*from.children()[i].module, *to.children()[i].module);
  }
}

}  // namespace

PlannedTraining CopyTraining(const PlannedTraining& original) {
  PlannedTraining copy{PrepareTraining(WithoutWeightsFile(original.config),
                                       original.dataset ? nullptr : &original.layout),
                       original.plan};
  CheckSame(original, copy);
  CopySegments(*original.network, *copy.network);
  copy.schedule = original.schedule;
  return copy;
}

}  // namespace frugal
