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

// Wraps a named part. As an unnamed child it has a path of its own, which its parameters' paths
// leave out.
class Wrapper : public Module {
 public:
  Wrapper() { AddChild("inner", leaf_); }

 private:
  Leaf leaf_;
};

class ThreeChildren : public Module {
 public:
  ThreeChildren() {
    AddUnnamedChild("first", first_);
    AddUnnamedChild("second", second_);
    AddChild("third", third_);
  }

 private:
  Wrapper first_;
  Leaf second_;
  Wrapper third_;
};

TEST_CASE("an unnamed child has a path, and its parameters do without it", "[module]") {
  ThreeChildren block;
  block.AssignPaths("h.0");
  CHECK(PathsOf(block) == std::vector<std::string>{
                              "h.0.inner.weight", "h.0.inner.running", "h.0.weight", "h.0.running",
                              "h.0.third.inner.weight", "h.0.third.inner.running"});
  const Module& first = *block.children()[0].module;
  CHECK(first.path() == "h.0.first");
  CHECK(first.children()[0].module->path() == "h.0.first.inner");
  CHECK(block.children()[1].module->path() == "h.0.second");
  CHECK(block.children()[2].module->path() == "h.0.third");
}

class Owner : public Module {
 public:
  Owner() : table(AddParameter("weight", {4, 3}, Initializer::Zero())) {}
  Parameter& table;
};

class Borrower : public Module {
 public:
  explicit Borrower(Parameter& table) : shared(AddShared("weight", table)) {}
  const Parameter& shared;
};

class Tied : public Module {
 public:
  Tied() : head_(owner_.table), other_(owner_.table) {
    AddChild("embedding", owner_);
    AddChild("head", head_);
    AddUnnamedChild("other", other_);
  }
  const Borrower& head() const { return head_; }

 private:
  Owner owner_;
  Borrower head_;
  Borrower other_;
};

TEST_CASE("a shared parameter is one parameter with several paths", "[module]") {
  Tied tied;
  for (int i = 0; i < 2; ++i) {  // naming again adds no path a second time
    tied.AssignPaths("net");
    REQUIRE(PathsOf(tied) == std::vector<std::string>{"net.embedding.weight"});
    CHECK(tied.Parameters()[0]->aliases ==
          std::vector<std::string>{"net.head.weight", "net.weight"});
  }
  CHECK(tied.ParameterCount() == 12);
  CHECK(&tied.head().shared == tied.Parameters()[0]);
  tied.AssignPaths("");
  CHECK(tied.Parameters()[0]->aliases == std::vector<std::string>{"head.weight", "weight"});
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
