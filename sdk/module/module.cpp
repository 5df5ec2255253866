#include "sdk/module/module.h"

namespace frugal {
namespace {

std::string Join(const std::string& prefix, const std::string& name) {
  if (prefix.empty()) return name;
  return name.empty() ? prefix : prefix + "." + name;
}

}  // namespace

void Module::VisitParameters(const std::function<void(Parameter&)>& visit) {
  for (const auto& parameter : parameters_) visit(*parameter);
  for (const Child& child : children_) child.module->VisitParameters(visit);
}

std::vector<Parameter*> Module::Parameters() {
  std::vector<Parameter*> all;
  VisitParameters([&](Parameter& parameter) { all.push_back(&parameter); });
  return all;
}

std::int64_t Module::ParameterCount() {
  std::int64_t count = 0;
  VisitParameters([&](Parameter& parameter) {
    if (!parameter.is_buffer) count += parameter.shape.ElementCount();
  });
  return count;
}

void Module::AssignPaths(const std::string& path, const std::string& parameter_path) {
  path_ = path;
  for (const auto& parameter : parameters_) {
    parameter->path = Join(parameter_path, parameter->name);
    parameter->aliases.clear();
  }
  for (const auto& [name, parameter] : shared_) {
    parameter->aliases.push_back(Join(parameter_path, name));
  }
  for (const Child& child : children_) {
    child.module->AssignPaths(Join(path, child.name), child.names_parameters
                                                          ? Join(parameter_path, child.name)
                                                          : parameter_path);
  }
}

Parameter& Module::AddParameter(std::string name, const Shape& shape,
                                const Initializer& initializer) {
  parameters_.push_back(std::make_unique<Parameter>(
      Parameter{.name = std::move(name), .path = {}, .shape = shape, .initializer = initializer}));
  return *parameters_.back();
}

Parameter& Module::AddBuffer(std::string name, const Shape& shape, const Initializer& initializer) {
  Parameter& buffer = AddParameter(std::move(name), shape, initializer);
  buffer.trainable = false;
  buffer.is_buffer = true;
  return buffer;
}

std::vector<Parameter*> NumberParameters(Module& root) {
  std::vector<Parameter*> all = root.Parameters();
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->index = i;
  return all;
}

}  // namespace frugal
