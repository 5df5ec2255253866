#include "sdk/backend/eigen/conv/conv_plan.h"

#include <algorithm>

namespace frugal::eigen {
namespace {

constexpr std::int64_t kTileBytes = std::int64_t{512} << 10;  // columns that stay in a core's cache
constexpr std::int64_t kWantedPieces = 16;

std::int64_t DivideUp(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

ConvPlan PlanFor(const ConvGeometry& g) {
  ConvPlan plan;
  plan.group_inputs = g.input_channels / g.groups;
  plan.group_outputs = g.output_channels / g.groups;
  plan.taps = g.window.KernelSize();
  return plan;
}

// Tiles of `row_elements` columns per output position.
void SetTile(const ConvGeometry& g, std::int64_t row_elements, std::int64_t element_bytes,
             ConvPlan& plan) {
  const std::int64_t positions = std::max<std::int64_t>(1, g.window.OutputSize());
  const std::int64_t row_bytes = std::max<std::int64_t>(1, row_elements * element_bytes);
  plan.tile = std::min(positions, std::clamp<std::int64_t>(kTileBytes / row_bytes, 16, 1024));
  plan.tiles = DivideUp(g.window.OutputSize(), plan.tile);
}

}  // namespace

ConvPlan PlanForward(const ConvGeometry& g, std::int64_t element_bytes) {
  ConvPlan plan = PlanFor(g);
  plan.width = plan.GroupColumns();
  SetTile(g, plan.width, element_bytes, plan);
  return plan;
}

ConvPlan PlanBackwardData(const ConvGeometry& g, std::int64_t element_bytes) {
  ConvPlan plan = PlanFor(g);
  const std::int64_t blocks =
      DivideUp(kWantedPieces, std::max<std::int64_t>(1, g.window.batch * g.groups));
  plan.width =
      std::clamp<std::int64_t>(DivideUp(plan.group_inputs, blocks),
                               std::min<std::int64_t>(16, plan.group_inputs), plan.group_inputs);
  plan.pieces = DivideUp(plan.group_inputs, plan.width);
  SetTile(g, plan.taps * plan.width, element_bytes, plan);
  return plan;
}

ConvPlan PlanBackwardWeight(const ConvGeometry& g, std::int64_t element_bytes) {
  ConvPlan plan = PlanFor(g);
  const std::int64_t blocks = DivideUp(kWantedPieces, g.groups);
  const std::int64_t even = DivideUp(plan.GroupColumns(), blocks);
  plan.width = std::clamp<std::int64_t>(DivideUp(even, 8) * 8, 16, 256);
  plan.width = std::min(plan.width, plan.GroupColumns());
  plan.pieces = DivideUp(plan.GroupColumns(), plan.width);
  SetTile(g, plan.width, element_bytes, plan);
  return plan;
}

std::int64_t WeightSize(const ConvGeometry& g) {
  return g.output_channels * (g.input_channels / g.groups) * g.window.KernelSize();
}

}  // namespace frugal::eigen
