#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sdk/module/parameter.h"

namespace frugal {

// A tree of named parts with parameters. Knows structure only: counting, naming and walking never
// touch storage.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  // This module's own parameters, then those of its children, in order.
  void VisitParameters(const std::function<void(Parameter&)>& visit);
  std::vector<Parameter*> Parameters();
  // Number of elements of all parameters, buffers left out.
  std::int64_t ParameterCount();

  // Names the whole tree: own path `prefix`, children "prefix.child", parameters "prefix.name".
  void AssignPaths(const std::string& prefix) { AssignPaths(prefix, prefix); }
  // The path names the module in plans, errors and random streams.
  const std::string& path() const { return path_; }

  struct Child {
    std::string name;
    Module* module = nullptr;
    bool names_parameters = true;  // whether the name is part of its parameters' paths
  };
  const std::vector<Child>& children() const { return children_; }

 protected:
  Parameter& AddParameter(std::string name, const Shape& shape, const Initializer& initializer);
  Parameter& AddBuffer(std::string name, const Shape& shape, const Initializer& initializer);
  // The child must live as long as this module; an empty name adds nothing to its path.
  void AddChild(std::string name, Module& child) {
    children_.push_back({std::move(name), &child, true});
  }
  // Gives all children up, which go to another module as they are.
  std::vector<Child> TakeChildren() { return std::exchange(children_, {}); }
  // A part that public checkpoints do not know, such as the residual around a block's attention:
  // the name is part of the child's own path, but not of its parameters'.
  void AddUnnamedChild(std::string name, Module& child) {
    children_.push_back({std::move(name), &child, false});
  }
  // Another module's parameter under a name of this one (tied weights): the same tensor, counted
  // once, and found in weight files under either path. It must come from an earlier module.
  const Parameter& AddShared(std::string name, Parameter& parameter) {
    shared_.emplace_back(std::move(name), &parameter);
    return parameter;
  }

 private:
  void AssignPaths(const std::string& path, const std::string& parameter_path);

  std::string path_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<std::pair<std::string, Parameter*>> shared_;
  std::vector<Child> children_;
};

// Gives every parameter of the tree its index and returns them in that order.
std::vector<Parameter*> NumberParameters(Module& root);

}  // namespace frugal
