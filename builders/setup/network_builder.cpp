#include "builders/setup/network_builder.h"

#include "builders/config/types/layer_registry.h"
#include "builders/setup/dry_environment.h"
#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

class NetworkBuilder {
 public:
  NetworkBuilder(Backend& backend, DType dtype) : backend_(backend), dtype_(dtype) {}

  // Returns the layers and leaves in `input` what comes out of them.
  std::unique_ptr<Sequential> BuildList(const std::vector<LayerSpec>& specs,
                                        const std::string& where, LayerInput& input) {
    auto list = std::make_unique<Sequential>();
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const std::string here =
          where + "." + std::to_string(i) + " (" + std::string(TypeNameOf(specs[i].options)) + ")";
      const std::string name = specs[i].name.empty() ? std::to_string(i) : specs[i].name;
      CheckNameIsNew(*list, name, here, specs[i]);
      list->Append(name, BuildNamed(specs[i], here, where + "." + std::to_string(i), input));
    }
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
  std::unique_ptr<Layer> BuildNamed(const LayerSpec& spec, const std::string& here,
                                    const std::string& path, LayerInput& input) {
    try {
      std::unique_ptr<Layer> layer = BuildLayer(spec, path, input);
      input = OutputOf(*layer, here, input);
      return layer;
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

  std::unique_ptr<Layer> BuildLayer(const LayerSpec& spec, const std::string& path,
                                    const LayerInput& input) {
    if (const auto* residual = std::get_if<ResidualOptions>(&spec.options)) {
      return BuildResidual(*residual, spec, path, input);
    }
    if (std::holds_alternative<SequentialOptions>(spec.options)) {
      RequireLayers(spec, path);
      LayerInput inside = input;
      return BuildList(spec.layers, path + ".layers", inside);
    }
    return LayerTypeOf(spec.options).make(spec.options, input.shape.back());
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

  LayerInput OutputOf(Layer& layer, const std::string& here, const LayerInput& input) {
    DryEnvironment environment(backend_, dtype_);
    NumberParameters(layer);
    layer.AssignPaths(here);
    Context& context = environment.context();
    context.set_training(true);
    const Tensor x = context.Allocate(input.shape, input.dtype);
    const Var output = layer(context, {x, Var::kNoGradient});
    return {output.shape(), output.value.dtype()};
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

std::unique_ptr<Sequential> BuildNetwork(const ModelOptions& model, const LayerInput& input,
                                         Backend& backend, DType dtype) {
  if (model.architecture) return BuildArchitecture(*model.architecture);
  return BuildLayers(model.layers, input, backend, dtype);
}

}  // namespace frugal
