#include "builders/training_memory/layer_registry.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

bool IsNamed(Layer& layer) {
  return !layer.path().empty() ||
         std::ranges::any_of(layer.Parameters(), [](const auto* p) { return !p->path.empty(); });
}

void CheckNoneIsNull(const LayerPointers& layers) {
  const auto null = std::ranges::find(layers, nullptr);
  if (null == layers.end()) return;
  throw UsageError({.where = "TrainingMemoryManager",
                    .required = "every pointer of a list of layers leads to a layer",
                    .given = "number " + std::to_string(null - layers.begin()) + " of " +
                             std::to_string(layers.size()) + " is null",
                    .advice = "leave it out"});
}

}  // namespace

LayerPointers PointersTo(const std::vector<std::unique_ptr<Layer>>& layers) {
  LayerPointers pointers;
  for (const auto& layer : layers) pointers.push_back(layer.get());
  return pointers;
}

std::vector<Parameter*> ParametersOf(const LayerPointers& layers) {
  CheckNoneIsNull(layers);
  std::vector<Parameter*> all;
  std::set<const Parameter*> seen;
  for (Layer* layer : layers) {
    layer->VisitParameters([&](Parameter& parameter) {
      if (seen.insert(&parameter).second) all.push_back(&parameter);
    });
  }
  return all;
}

void LayerRegistry::Adopt(const LayerPointers& layers) {
  CheckNoneIsNull(layers);
  // Those that have numbers come first: the others then get what is left.
  for (Layer* layer : layers) {
    if (!IsNamed(*layer)) continue;
    paths_.insert(layer->path());
    KeepNumbers(*layer);
  }
  for (Layer* layer : layers) {
    if (IsNamed(*layer)) continue;
    Name(*layer);
    GiveNumbers(*layer);
  }
}

void LayerRegistry::Name(Layer& layer) {
  std::string name = std::to_string(next_name_++);
  while (paths_.contains(name)) name = std::to_string(next_name_++);
  layer.AssignPaths(name);
  paths_.insert(std::move(name));
}

void LayerRegistry::KeepNumbers(Layer& layer) {
  layer.VisitParameters([&](const Parameter& parameter) {
    const Known fresh = {&parameter, parameter.path, parameter.shape};
    const auto [at, is_new] = known_.emplace(parameter.index, fresh);
    const Known& known = at->second;
    if (is_new || (known.parameter == fresh.parameter && known.path == fresh.path &&
                   known.shape == fresh.shape)) {
      return;
    }
    throw UsageError({.where = parameter.path,
                      .required = "every parameter of a manager's layers has its own number",
                      .given = "it has number " + std::to_string(parameter.index) + ", which " +
                               known.path + " " + ToString(known.shape) + " has already",
                      .advice = "give layers no paths, and the manager names and numbers them; or "
                                "call NumberParameters on a Sequential of all of them"});
  });
}

void LayerRegistry::GiveNumbers(Layer& layer) {
  layer.VisitParameters([&](Parameter& parameter) {
    parameter.index = known_.empty() ? 0 : known_.rbegin()->first + 1;
    known_[parameter.index] = {&parameter, parameter.path, parameter.shape};
  });
}

}  // namespace frugal
