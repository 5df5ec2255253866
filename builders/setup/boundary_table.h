#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "sdk/data/data_source.h"
#include "sdk/module/layer.h"
#include "sdk/module/network_input.h"
#include "sdk/train/diffusion.h"
#include "sdk/train/loss.h"
#include "sdk/train/network_output.h"
#include "sdk/train/stage.h"

namespace frugal {

// Says what a cut behind any layer of a network would have to carry, and which parameters each
// layer uses, as dry passes show it.
class BoundaryTable {
 public:
  // Holds what is known of a network; the backend, the layers, the parameters and the diffusion
  // process must outlive the table.
  struct Network {
    std::vector<Layer*> layers;
    std::vector<Parameter*> parameters;
    NetworkInputs inputs;
    NetworkOutputs more_outputs;
    DataLayout layout;
    LossOptions loss;
    Backend& backend;
    const DiffusionProcess* diffusion = nullptr;
    DType dtype = DType::kF32;
  };
  explicit BoundaryTable(Network network) : network_(std::move(network)) {}

  // Returns what crosses a cut behind layer number `layer` with so many samples.
  const StageBoundary& Behind(std::size_t layer, std::int64_t samples);
  // Returns the numbers (Parameter::index) of the parameters that a layer uses, the last one with
  // the loss.
  const std::set<std::size_t>& ParametersOf(std::size_t layer);

 private:
  struct Pass;
  struct Measured {
    std::vector<StageBoundary> behind;
    std::vector<std::set<std::size_t>> parameters;
  };
  const Measured& MeasuredWith(std::int64_t samples);
  Measured Measure(std::int64_t samples) const;
  void RunLayer(std::size_t layer, std::int64_t samples, const StageBoundary* before,
                Pass& pass) const;

  Network network_;
  std::map<std::int64_t, Measured> measured_;  // by samples
};

}  // namespace frugal
