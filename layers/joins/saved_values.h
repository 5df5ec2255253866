#pragma once

#include <string>

#include "layers/joins/combine.h"
#include "sdk/module/layer.h"

namespace frugal {

// Lists of layers name a value by SaveOptions. Further on JoinOptions combine it with what is
// there, and TakeOptions go on with it alone.
struct SaveOptions {
  std::string as;
};
struct JoinOptions {
  std::string with;
  Combine combine = Combine::kConcat;
};
struct TakeOptions {
  std::string value;
};

// Says where in the tuple a named value is, and whether it stays there for others that read it. The
// place counts from the tuple's end, 1 is the last, since lists around a list have values of their
// own before it.
struct NamedPlace {
  std::size_t from_end = 1;
  bool stays = false;
};

// Hands its input on and puts it beside it, once for each layer that reads it.
class SaveLayer final : public TupleLayer {
 public:
  SaveLayer(SaveOptions options, std::size_t readers)
      : options_(std::move(options)), readers_(readers) {}

  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override { return "save as " + options_.as; }
  bool TakesTokens() const override { return true; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  SaveOptions options_;
  std::size_t readers_;
};

// Combines its input with a named value.
class JoinLayer final : public TupleLayer {
 public:
  JoinLayer(JoinOptions options, const NamedPlace& place)
      : options_(std::move(options)), place_(place) {}

  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override {
    return std::string(NameOf(options_.combine)) + " with " + options_.with;
  }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  JoinOptions options_;
  NamedPlace place_;
};

// Gives its input up and goes on with a named value.
class TakeLayer final : public TupleLayer {
 public:
  TakeLayer(TakeOptions options, const NamedPlace& place)
      : options_(std::move(options)), place_(place) {}

  LayerKind kind() const override { return LayerKind::kReshape; }
  std::string Describe() const override { return "take " + options_.value; }
  bool TakesTokens() const override { return true; }

 private:
  void ForwardTuple(Context& context, VarTuple& vars) override;

  TakeOptions options_;
  NamedPlace place_;
};

}  // namespace frugal
