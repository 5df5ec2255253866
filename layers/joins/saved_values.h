#pragma once

#include <string>

#include "layers/joins/combine.h"
#include "sdk/module/layer.h"

namespace frugal {

// Lists of layers name a value by SaveOptions, and take it further on by JoinOptions.
struct SaveOptions {
  std::string as;
};
struct JoinOptions {
  std::string with;
  Combine combine = Combine::kConcat;
};

// Hands its input on and puts it beside it, once for each JoinLayer that takes it.
class SaveLayer final : public TupleLayer {
 public:
  SaveLayer(SaveOptions options, std::size_t joins) : options_(std::move(options)), joins_(joins) {}

  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override { return "save as " + options_.as; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  SaveOptions options_;
  std::size_t joins_;
};

// Takes the saved value in one place of the tuple away and combines its input with it.
class JoinLayer final : public TupleLayer {
 public:
  JoinLayer(JoinOptions options, std::size_t place) : options_(std::move(options)), place_(place) {}

  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override {
    return std::string(NameOf(options_.combine)) + " with " + options_.with;
  }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  JoinOptions options_;
  std::size_t place_;
};

}  // namespace frugal
