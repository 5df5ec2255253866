#include "builders/setup/network_builder.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "builders/config/types/layer_registry.h"
#include "builders/setup/dry_environment.h"
#include "layers/joins/again.h"
#include "layers/joins/branches.h"
#include "layers/joins/output_layer.h"
#include "layers/residual.h"
#include "layers/sequential.h"
#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

// Holds what a list of layers hands from one to the next.
struct ListState {
  LayerInput input;
  NamedValues values{};
  Sequential* list = nullptr;  // what is built of it so far
  bool is_network = false;     // else it is a list inside another one
};

// Describes all that a network of layers takes.
NetworkInputs AllInputs(const LayerInput& first, const NetworkInputs& conditions) {
  const bool tokens = first.dtype == DType::kI64;
  NetworkInputs inputs = {{.name = "x",
                           .role = tokens ? InputRole::kTokens : InputRole::kSample,
                           .shape = Shape(first.shape.extents().subspan(1))}};
  inputs.insert(inputs.end(), conditions.begin(), conditions.end());
  return inputs;
}

class NetworkBuilder {
 public:
  NetworkBuilder(Backend& backend, DType dtype) : backend_(backend), dtype_(dtype) {}

  // Builds the whole network, whose data have these inputs beside their first one.
  std::unique_ptr<Sequential> BuildNetwork(const std::vector<LayerSpec>& specs,
                                           const LayerInput& input,
                                           const NetworkInputs& conditions) {
    auto network = std::make_unique<Sequential>();
    ListState state{.input = input, .list = network.get(), .is_network = true};
    for (const NetworkInput& condition : conditions) {
      state.values.AddInput(condition.name,
                            {BatchShape(condition, input.shape[0]), TypeOf(condition, dtype_)});
    }
    FillList(specs, "model.layers", state);
    state.values.RequireInputsRead();
    if (!conditions.empty()) network->SetInputs(AllInputs(input, conditions));
    network->SetOutputs(std::move(outputs_));
    return network;
  }

 private:
  // Returns the layers and leaves in `input` what comes out of them.
  std::unique_ptr<Sequential> BuildList(const std::vector<LayerSpec>& specs,
                                        const std::string& where, LayerInput& input) {
    auto list = std::make_unique<Sequential>();
    ListState state{.input = input, .list = list.get()};
    FillList(specs, where, state);
    input = state.input;
    return list;
  }

  void FillList(const std::vector<LayerSpec>& specs, const std::string& where, ListState& state) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::string here = where + "." + std::to_string(i) + " (" + TypeNameOf(specs[i]) + ")";
      const std::string name = specs[i].name.empty() ? std::to_string(i) : specs[i].name;
      CheckNameIsNew(*state.list, name, here, specs[i]);
      state.list->Append(name, Located(here, specs[i], [&] {
                           return BuildNext(specs, i, here, where + "." + std::to_string(i), state);
                         }));
    }
  }

  void CheckNameIsNew(const Sequential& list, const std::string& name, const std::string& here,
                      const LayerSpec& spec) {
    for (const Module::Child& child : list.children()) {
      if (child.name != name) continue;
      ConfigError error({.where = here,
                         .required = "layers of one list have different names",
                         .given = "another layer is called " + QuotedName(name) + " already",
                         .advice = "rename one of them"});
      Place(error, here, spec);
      throw ConfigError(error);
    }
  }

  // Errors of layers name only themselves; here they learn where in the model they are.
  std::unique_ptr<Layer> Located(const std::string& here, const LayerSpec& spec,
                                 const std::function<std::unique_ptr<Layer>()>& build) {
    try {
      return build();
    } catch (Error& error) {
      Place(error, here, spec);
      throw;
    }
  }

  // Once: an error passes through all lists that the layer lies in, and the innermost knows best.
  void Place(Error& error, const std::string& here, const LayerSpec& spec) {
    if (placed_) return;
    placed_ = true;
    if (!error.diagnostic().where.starts_with("model.layers")) error.Rename(here);
    error.PlaceAt(spec.location);
  }

  // Builds layer number `i` of a list.
  std::unique_ptr<Layer> BuildNext(const std::vector<LayerSpec>& specs, std::size_t i,
                                   const std::string& here, const std::string& path,
                                   ListState& state) {
    const LayerSpec& spec = specs[i];
    const std::span<const LayerSpec> behind = std::span(specs).subspan(i + 1);
    if (const auto* save = spec.options.As<SaveOptions>()) {
      return state.values.Save(*save, behind, state.input, here);
    }
    if (const auto* take = spec.options.As<TakeOptions>()) {
      const NamedValues::Read read = state.values.Take(take->value, behind, here);
      state.input = read.value;
      return std::make_unique<TakeLayer>(*take, read.place);
    }
    if (const auto* join = spec.options.As<JoinOptions>()) {
      return BuildJoin(*join, behind, here, state);
    }
    if (const auto* again = spec.options.As<AgainOptions>()) return BuildAgain(*again, here, state);
    if (const auto* output = spec.options.As<NetworkOutputOptions>()) {
      return BuildOutput(*output, spec, here, path, state);
    }
    std::unique_ptr<Layer> layer = BuildLayer(spec, path, state.input);
    state.input = OutputOf(*layer, here, state);
    return layer;
  }

  std::unique_ptr<Layer> BuildJoin(const JoinOptions& options, std::span<const LayerSpec> behind,
                                   const std::string& here, ListState& state) {
    const ListState before = state;
    const NamedValues::Read read = state.values.Take(options.with, behind, here);
    if (read.value.dtype == DType::kI64) {
      throw ConfigError({.where = here,
                         .required = "a join is with values",
                         .given = QuotedName(options.with) + " holds class or token numbers",
                         .advice = "take it, embed it, and join what comes of it"});
    }
    auto layer = std::make_unique<JoinLayer>(options, read.place);
    state.input = OutputOf(*layer, here, before);
    return layer;
  }

  std::unique_ptr<Layer> BuildAgain(const AgainOptions& options, const std::string& here,
                                    ListState& state) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < state.list->size(); ++i) {
      const std::string& name = state.list->children()[i].name;
      if (name == options.layer) {
        auto layer = std::make_unique<Again>(options, state.list->layer(i));
        state.input = OutputOf(*layer, here, state);
        return layer;
      }
      names.push_back(name);
    }
    throw ConfigError({.where = here,
                       .required = "a layer runs again that this list has before it",
                       .given = "layer = " + QuotedName(options.layer),
                       .advice = names.empty()
                                     ? "give a layer before it a name"
                                     : "the layers before it are called " + JoinWithCommas(names)});
  }

  std::unique_ptr<Layer> BuildOutput(const NetworkOutputOptions& options, const LayerSpec& spec,
                                     const std::string& here, const std::string& path,
                                     ListState& state) {
    if (!state.is_network || spec.name.empty()) {
      throw ConfigError(
          {.where = here,
           .required = state.is_network ? "an output has a name"
                                        : "outputs are in the network's own list of layers",
           .given = state.is_network ? "none was given" : "this list is inside another layer",
           .advice = state.is_network ? "add name = \"...\"" : "move it there"});
    }
    LayerInput output = state.input;
    auto layer = std::make_unique<OutputLayer>(BuildList(spec.layers, path + ".layers", output));
    state.values.AddOutput(output);
    outputs_.push_back({spec.name, options});
    return layer;
  }

  std::unique_ptr<Layer> BuildLayer(const LayerSpec& spec, const std::string& path,
                                    const LayerInput& input) {
    if (spec.make) return Made(spec.make(spec.options, input.shape), path);
    if (const auto* residual = spec.options.As<ResidualOptions>()) {
      return BuildResidual(*residual, spec, path, input);
    }
    if (const auto* branches = spec.options.As<BranchesOptions>()) {
      return BuildBranches(*branches, spec, path, input);
    }
    if (spec.options.As<SequentialOptions>() != nullptr) {
      RequireLayers(spec, path);
      LayerInput inside = input;
      return BuildList(spec.layers, path + ".layers", inside);
    }
    return Made(LayerTypeOf(spec.options)->make(spec.options, input.shape), path);
  }

  std::unique_ptr<Layer> BuildBranches(const BranchesOptions& options, const LayerSpec& spec,
                                       const std::string& path, const LayerInput& input) {
    RequireLayers(spec, path);
    std::vector<Branches::Branch> branches;
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
      const LayerSpec& branch = spec.layers[i];
      const std::string inside = path + ".layers." + std::to_string(i);
      const std::string here = inside + " (" + TypeNameOf(branch) + ")";
      Sequential none;
      ListState state{.input = input, .list = &none};
      branches.push_back(
          {branch.name.empty() ? std::to_string(i) : branch.name,
           Located(here, branch, [&] { return BuildNext({branch}, 0, here, inside, state); })});
    }
    return std::make_unique<Branches>(std::move(branches), options);
  }

  static std::unique_ptr<Layer> Made(std::unique_ptr<Layer> layer, const std::string& path) {
    if (layer != nullptr) return layer;
    throw UsageError({.where = path,
                      .required = "the function that makes a layer returns one",
                      .given = "it returned null",
                      .advice = {}});
  }

  static void RequireLayers(const LayerSpec& spec, const std::string& path) {
    if (!spec.layers.empty()) return;
    throw ConfigError({.where = path,
                       .required = "it holds at least one layer",
                       .given = "its list of layers is empty",
                       .advice = "add [[model.layers.layers]]"});
  }

  std::unique_ptr<Layer> BuildResidual(const ResidualOptions& options, const LayerSpec& spec,
                                       const std::string& path, const LayerInput& input) {
    RequireLayers(spec, path);
    LayerInput inside = input;
    LayerInput around = input;
    auto body = BuildList(spec.layers, path + ".layers", inside);
    std::unique_ptr<Sequential> shortcut;
    if (!spec.shortcut.empty()) shortcut = BuildList(spec.shortcut, path + ".shortcut", around);
    if (!(inside.shape == around.shape)) {
      throw ConfigError({.where = path,
                         .required = "both branches end in one shape",
                         .given = "the body ends in " + ToString(inside.shape) + " and " +
                                  (shortcut ? "the shortcut in " : "the input is ") +
                                  ToString(around.shape),
                         .advice = "give a shortcut that ends in " + ToString(inside.shape) +
                                   ", e.g. a conv2d with kernel 1 and the same stride"});
    }
    return std::make_unique<Residual>(std::move(body), std::move(shortcut), options);
  }

  // Saved values travel beside the input.
  LayerInput OutputOf(Layer& layer, const std::string& here, const ListState& state) {
    DryEnvironment environment(backend_, dtype_);
    NumberParameters(layer);
    layer.AssignPaths(here);
    Context& context = environment.context();
    context.set_training(true);
    VarTuple vars = {{context.Allocate(state.input.shape, state.input.dtype)}};
    for (const LayerInput& value : state.values.All()) {
      vars.push_back({context.Allocate(value.shape, value.dtype)});
    }
    layer(context, vars);
    return {vars[0].shape(), vars[0].value.dtype()};
  }

  Backend& backend_;
  DType dtype_;
  NetworkOutputs outputs_;
  bool placed_ = false;  // an error on its way has its place
};

}  // namespace

std::unique_ptr<Sequential> BuildLayers(const std::vector<LayerSpec>& layers,
                                        const LayerInput& input, Backend& backend, DType dtype,
                                        const NetworkInputs& conditions) {
  auto network = NetworkBuilder(backend, dtype).BuildNetwork(layers, input, conditions);
  network->AssignPaths("");
  NumberParameters(*network);
  return network;
}

namespace {

std::unique_ptr<Sequential> MakeNetwork(const NetworkMaker& make) {
  std::unique_ptr<Sequential> network = make();
  if (network == nullptr || network->size() == 0) {
    throw UsageError({.where = "AiModelBuilder::Network",
                      .required = "a network of at least one layer",
                      .given = network == nullptr ? "null" : "it is empty",
                      .advice = {}});
  }
  network->AssignPaths("");
  NumberParameters(*network);
  return network;
}

}  // namespace

std::unique_ptr<Sequential> BuildNetwork(const ModelOptions& model, const LayerInput& input,
                                         Backend& backend, DType dtype,
                                         const NetworkInputs& conditions) {
  if (model.architecture) return BuildArchitecture(*model.architecture);
  if (model.network) return MakeNetwork(model.network);
  return BuildLayers(model.layers, input, backend, dtype, conditions);
}

}  // namespace frugal
