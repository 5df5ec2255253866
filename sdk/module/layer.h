#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sdk/autograd/checkpoint.h"
#include "sdk/autograd/context.h"
#include "sdk/module/module.h"

namespace frugal {

// Names what a layer is, for policies that choose by kind.
enum class LayerKind : std::uint8_t {
  kDense,
  kConvolution,
  kPooling,
  kNorm,
  kActivation,
  kDropout,
  kReshape,
  kAttention,
  kResidual,
  kSequential,
  kEmbedding,
  kRecurrent,
  kBlock,  // a residual block, attention with more than one input, a layer of a program's own
  kCount
};
std::string_view NameOf(LayerKind kind);

// A layer's last step where that is x W^T + b: what others need to take it over. A loss runs it
// piece by piece, so that its output is never there as a whole; a residual adds in the product.
struct Projection {
  const Parameter* weight = nullptr;  // [outputs, features], or [features, outputs] with kInOut
  const Parameter* bias = nullptr;    // [outputs] or null
  WeightLayout layout = WeightLayout::kOutIn;
};

// Says how a layer runs where checkpointing is on: like what is around it; once, although the
// segment that it lies in runs again; or as a segment of its own, although what is around it runs
// once.
enum class Recompute : std::uint8_t { kWithOthers, kNever, kAlways };

// A forward-only composition of operations. Backward belongs to the operations. Threads: several
// may run it at once without a tape, each in a context of its own, as a Predictor's do: Forward
// keeps nothing in members.
class Layer : public Module {
 public:
  virtual LayerKind kind() const { return LayerKind::kBlock; }
  // One line with the sizes, e.g. "conv2d 32 -> 64, 3x3, stride 1, padding 1, relu".
  virtual std::string Describe() const = 0;
  // Returns true where its inputs may be token numbers (kI64); else they are values.
  virtual bool TakesTokens() const { return false; }
  // Runs the layer; memory it takes is held in its name. Throws ShapeError for tokens where it
  // takes values.
  Var operator()(Context& context, const Var& input);
  // Does the same where several variables travel together: the layer works on the first and hands
  // the others on, unless it is one that takes more (see TupleLayer).
  void operator()(Context& context, VarTuple& vars);

  // Returns true where a sequence can go through position by position, earlier ones known from the
  // context's cache alone, with the same result as all at once.
  virtual bool WorksByPosition() const { return false; }

  // Returns true where what comes out for a sample depends on the others of its batch, in
  // evaluation too: then a batch in several parts gives other numbers.
  virtual bool MixesSamples() const { return false; }

  // The projection that the layer ends in; nothing where it ends in something else.
  virtual std::optional<Projection> LastProjection() const { return std::nullopt; }
  // Runs all but the last projection; only where there is one.
  Var RunUpToProjection(Context& context, const Var& input);

  void set_recompute(Recompute recompute) { recompute_ = recompute; }
  Recompute recompute() const { return recompute_; }

 protected:
  // Runs the layer's work as its Recompute says; for layers that others run by functions of their
  // own (AttentionLayer::Attend). `work` lives until the backward pass, so it holds what it uses.
  void RunPart(Context& context, VarTuple& vars, const TupleSegment& work) const;

 private:
  void CheckIsTaken(const Var& input) const;
  virtual Var Forward(Context& context, const Var& input) = 0;
  virtual void ForwardTuple(Context& context, VarTuple& vars);
  virtual Var ForwardUpToProjection(Context&, const Var& input) { return input; }

  Recompute recompute_ = Recompute::kWithOthers;
};

// A layer that works on several variables: conditioning beside the main stream, two streams, skips.
// Which ones it takes and leaves is part of its description.
class TupleLayer : public Layer {
 private:
  // Throws UsageError: one variable is not enough.
  Var Forward(Context& context, const Var& input) final;
  void ForwardTuple(Context& context, VarTuple& vars) override = 0;
};

}  // namespace frugal
