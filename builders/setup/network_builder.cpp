#include "builders/setup/network_builder.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include "builders/config/types/layer_registry.h"
#include "builders/config/types/named_options.h"
#include "builders/setup/dry_environment.h"
#include "layers/joins/branches.h"
#include "layers/joins/saved_values.h"
#include "layers/residual.h"
#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

// A value that a list has saved and not taken for the last time.
struct SavedValue {
  std::string name;
  LayerInput value;
};

// Holds what a list of layers hands from one to the next.
struct ListState {
  LayerInput input;
  std::vector<SavedValue> saved;  // in the order of the tuple
};

class NetworkBuilder {
 public:
  NetworkBuilder(Backend& backend, DType dtype) : backend_(backend), dtype_(dtype) {}

  // Returns the layers and leaves in `input` what comes out of them.
  std::unique_ptr<Sequential> BuildList(const std::vector<LayerSpec>& specs,
                                        const std::string& where, LayerInput& input) {
    auto list = std::make_unique<Sequential>();
    ListState state{.input = input, .saved = {}};
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::string here = where + "." + std::to_string(i) + " (" + TypeNameOf(specs[i]) + ")";
      const std::string name = specs[i].name.empty() ? std::to_string(i) : specs[i].name;
      CheckNameIsNew(*list, name, here, specs[i]);
      list->Append(name, Located(here, specs[i], [&] {
                     return BuildNext(specs, i, here, where + "." + std::to_string(i), state);
                   }));
    }
    input = state.input;
    return list;
  }

 private:
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
    if (const auto* save = spec.options.As<SaveOptions>()) {
      return BuildSave(*save, std::span(specs).subspan(i + 1), here, state);
    }
    if (const auto* join = spec.options.As<JoinOptions>()) {
      return BuildJoin(*join, here, state);
    }
    std::unique_ptr<Layer> layer = BuildLayer(spec, path, state.input);
    state.input = OutputOf(*layer, here, state);
    return layer;
  }

  static std::size_t JoinsIn(std::span<const LayerSpec> specs, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::count_if(specs, [&](const LayerSpec& spec) {
      const auto* join = spec.options.As<JoinOptions>();
      return join != nullptr && join->with == name;
    }));
  }

  static std::unique_ptr<Layer> BuildSave(const SaveOptions& options,
                                          std::span<const LayerSpec> behind,
                                          const std::string& here, ListState& state) {
    const bool is_taken =
        std::ranges::find(state.saved, options.as, &SavedValue::name) != state.saved.end();
    const std::size_t joins = JoinsIn(behind, options.as);
    if (is_taken || joins == 0) {
      throw ConfigError(
          {.where = here,
           .required = "a saved value has a name of its own, and a join behind it takes it",
           .given = is_taken ? "as = " + QuotedName(options.as) + " is saved already"
                             : "no join of this list is with " + QuotedName(options.as),
           .advice = is_taken ? "rename one of them"
                              : "add { type = \"join\", with = " + QuotedName(options.as) +
                                    " }, or leave the save out"});
    }
    state.saved.insert(state.saved.end(), joins, SavedValue{options.as, state.input});
    return std::make_unique<SaveLayer>(options, joins);
  }

  std::unique_ptr<Layer> BuildJoin(const JoinOptions& options, const std::string& here,
                                   ListState& state) {
    // The last of equal ones: those before it pass the layer as they are.
    const auto found = std::ranges::find(state.saved.rbegin(), state.saved.rend(), options.with,
                                         &SavedValue::name);
    if (found == state.saved.rend()) {
      std::string names;
      for (const SavedValue& one : state.saved) {
        names += (names.empty() ? "" : ", ") + QuotedName(one.name);
      }
      throw ConfigError(
          {.where = here,
           .required = "a join is with a value that this list has saved before it",
           .given = "with = " + QuotedName(options.with) + ", and " +
                    (names.empty() ? "nothing is" : names + " is") + " saved here",
           .advice = "add { type = \"save\", as = " + QuotedName(options.with) + " } before it"});
    }
    auto layer =
        std::make_unique<JoinLayer>(options, static_cast<std::size_t>(state.saved.rend() - found));
    state.input = OutputOf(*layer, here, state);
    state.saved.erase(std::next(found).base());
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
      ListState state{.input = input, .saved = {}};
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
    for (const SavedValue& saved : state.saved) {
      vars.push_back({context.Allocate(saved.value.shape, saved.value.dtype)});
    }
    layer(context, vars);
    return {vars[0].shape(), vars[0].value.dtype()};
  }

  Backend& backend_;
  DType dtype_;
  bool placed_ = false;  // an error on its way has its place
};

}  // namespace

std::unique_ptr<Sequential> BuildLayers(const std::vector<LayerSpec>& layers,
                                        const LayerInput& input, Backend& backend, DType dtype) {
  LayerInput passed = input;
  auto network = NetworkBuilder(backend, dtype).BuildList(layers, "model.layers", passed);
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
                                         Backend& backend, DType dtype) {
  if (model.architecture) return BuildArchitecture(*model.architecture);
  if (model.network) return MakeNetwork(model.network);
  return BuildLayers(model.layers, input, backend, dtype);
}

}  // namespace frugal
