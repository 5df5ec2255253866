#include "builders/report/rows/layer_times.h"

#include <algorithm>

namespace frugal {
namespace {

bool IsInside(const std::string& label, const std::string& path) {
  if (!label.starts_with(path)) return false;
  return label.size() == path.size() || label[path.size()] == '.';
}

void Add(const LayerMeasurement& part, LayerMeasurement& sum) {
  sum.seconds += part.seconds;
  sum.flops += part.flops;
  sum.launches += part.launches;
  sum.peak_live_bytes = std::max(sum.peak_live_bytes, part.peak_live_bytes);
}

}  // namespace

LayerTimes TimesByLayer(const std::vector<LayerPlan>& layers,
                        const std::vector<LayerMeasurement>& measured) {
  LayerTimes times;
  for (const LayerPlan& layer : layers) times.layers.push_back({.label = layer.path});
  for (const LayerMeasurement& part : measured) {
    times.seconds += part.seconds;
    const auto owner = std::ranges::find_if(
        times.layers, [&](const auto& layer) { return IsInside(part.label, layer.label); });
    if (owner == times.layers.end()) {
      times.others.push_back(part);
    } else {
      Add(part, *owner);
    }
  }
  return times;
}

}  // namespace frugal
