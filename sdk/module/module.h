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
  void AssignPaths(const std::string& prefix);
  const std::string& path() const { return path_; }

  const std::vector<std::pair<std::string, Module*>>& children() const { return children_; }

 protected:
  Parameter& AddParameter(std::string name, const Shape& shape, const Initializer& initializer);
  Parameter& AddBuffer(std::string name, const Shape& shape, const Initializer& initializer);
  // The child must live as long as this module; an empty name adds nothing to its path.
  void AddChild(std::string name, Module& child) {
    children_.emplace_back(std::move(name), &child);
  }

 private:
  std::string path_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<std::pair<std::string, Module*>> children_;
};

// Gives every parameter of the tree its index and returns them in that order.
std::vector<Parameter*> NumberParameters(Module& root);

}  // namespace frugal
