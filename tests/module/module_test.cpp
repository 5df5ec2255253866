#include "sdk/module/module.h"

#include "sdk/module/layer.h"
#include "tests/catch.h"

namespace frugal {
namespace {

class Leaf : public Module {
 public:
  Leaf() {
    AddParameter("weight", {2, 3}, Initializer::HeNormal());
    AddBuffer("running", {4}, Initializer::Zero());
  }
};

class Tree : public Module {
 public:
  Tree() {
    AddParameter("scale", {5}, Initializer::Constant(1));
    AddChild("a", first_);
    AddChild("", second_);
  }

 private:
  Leaf first_;
  Leaf second_;
};

std::vector<std::string> PathsOf(Module& module) {
  std::vector<std::string> paths;
  for (const Parameter* parameter : module.Parameters()) paths.push_back(parameter->path);
  return paths;
}

TEST_CASE("paths follow the tree, and a nameless child adds nothing", "[module]") {
  Tree tree;
  tree.AssignPaths("net");
  CHECK(PathsOf(tree) == std::vector<std::string>{"net.scale", "net.a.weight", "net.a.running",
                                                  "net.weight", "net.running"});
  tree.AssignPaths("");
  CHECK(PathsOf(tree) ==
        std::vector<std::string>{"scale", "a.weight", "a.running", "weight", "running"});
  CHECK(tree.path().empty());
  CHECK(tree.children()[0].module->path() == "a");
}

TEST_CASE("buffers are no parameters to count or to train", "[module]") {
  Tree tree;
  CHECK(tree.ParameterCount() == 5 + 6 + 6);
  for (const Parameter* parameter : tree.Parameters()) {
    CHECK(parameter->is_buffer == (parameter->name == "running"));
    CHECK(parameter->trainable == !parameter->is_buffer);
  }
}

TEST_CASE("parameters are numbered in order", "[module]") {
  Tree tree;
  const auto all = NumberParameters(tree);
  REQUIRE(all.size() == 5);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i]->index == i);
}

TEST_CASE("layer kinds have names", "[module]") {
  CHECK(NameOf(LayerKind::kDense) == "dense");
  CHECK(NameOf(LayerKind::kResidual) == "residual");
  CHECK(NameOf(LayerKind::kSequential) == "sequential");
  CHECK(NameOf(LayerKind::kRecurrent) == "recurrent");
}

}  // namespace
}  // namespace frugal
