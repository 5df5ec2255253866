#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "builders/config/types/layer_spec.h"
#include "layers/joins/saved_values.h"
#include "layers/sequential.h"

namespace frugal {

// Describes a value on its way through a list of layers: a batch in front.
struct LayerInput {
  Shape shape;  // [N, sample...]
  DType dtype = DType::kF32;
};

// The values that travel beside a list's input, in the order of the tuple: what the network takes
// beside its first input, what layers saved, and outputs that are done.
class NamedValues {
 public:
  // The list takes a value of this name from outside, which its layers may read as often as they
  // like.
  void AddInput(std::string name, LayerInput value);
  // Throws ConfigError where the name is taken or no layer of `behind` reads it.
  std::unique_ptr<Layer> Save(const SaveOptions& options, std::span<const LayerSpec> behind,
                              const LayerInput& value, const std::string& here);
  // Returns where the value is for a layer before `behind`, and what it is; it is read then. Throws
  // ConfigError where there is none.
  struct Read {
    NamedPlace place;
    LayerInput value;
  };
  Read Take(const std::string& name, std::span<const LayerSpec> behind, const std::string& here);
  // An output of the network is done; nothing reads it.
  void AddOutput(LayerInput value) { values_.push_back({.name = {}, .value = std::move(value)}); }

  // Throws ConfigError where an input was never read.
  void RequireInputsRead() const;

  // Returns what travels, for a dry pass through a layer.
  std::vector<LayerInput> All() const;

 private:
  struct Value {
    std::string name;  // empty: an output
    LayerInput value;
    bool is_input = false;
  };
  std::string Names() const;

  std::vector<Value> values_;
  std::vector<std::string> unread_;  // inputs that no layer has read
};

}  // namespace frugal
