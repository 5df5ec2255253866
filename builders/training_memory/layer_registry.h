#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sdk/module/layer.h"

namespace frugal {

// Layers in the order in which they run. Not owned; one may come several times.
using LayerPointers = std::vector<Layer*>;

LayerPointers PointersTo(const std::vector<std::unique_ptr<Layer>>& layers);
// All parameters of the layers in order, each once: what an optimizer steps.
std::vector<Parameter*> ParametersOf(const LayerPointers& layers);

// Sees to it that the layers that one ParameterStore serves have paths and numbers of their own.
class LayerRegistry {
 public:
  // A layer without a path is named "0", "1", ... in the order in which such layers come, and its
  // parameters are numbered. One that has a path keeps it and its numbers. Throws UsageError for a
  // null pointer, and where a number that was kept belongs to another parameter.
  void Adopt(const LayerPointers& layers);

 private:
  struct Known {
    const Parameter* parameter;
    std::string path;
    Shape shape;
  };
  void Name(Layer& layer);
  void KeepNumbers(Layer& layer);
  void GiveNumbers(Layer& layer);

  std::map<std::size_t, Known> known_;  // by number
  std::set<std::string> paths_;         // of layers
  std::int64_t next_name_ = 0;
};

}  // namespace frugal
