#include "builders/training_memory/layer_pass.h"

#include "sdk/autograd/checkpoint.h"
#include "sdk/ops/support/precision.h"

namespace frugal {
namespace {

using SharedLayers = std::shared_ptr<const LayerPointers>;

void RunSegment(Context& context, const SharedLayers& layers, VarTuple& vars, std::size_t begin,
                std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) (*(*layers)[i])(context, vars);
}

// Mode, step and part of the batch as they were in forward, until the end of the scope.
class ForwardStateScope {
 public:
  ForwardStateScope(Context& context, const LayerPass& pass)
      : context_(context),
        training_(context.training()),
        step_(context.step()),
        micro_batch_(context.micro_batch()) {
    Set(pass.training, pass.step, pass.micro_batch);
  }
  ForwardStateScope(const ForwardStateScope&) = delete;
  ForwardStateScope& operator=(const ForwardStateScope&) = delete;
  ~ForwardStateScope() { Set(training_, step_, micro_batch_); }

 private:
  void Set(bool training, std::int64_t step, std::int64_t micro_batch) {
    context_.set_training(training);
    context_.set_step(step);
    context_.set_micro_batch(micro_batch);
  }

  Context& context_;
  bool training_;
  std::int64_t step_;
  std::int64_t micro_batch_;
};

// Empties the tape in any case: what is left of it after an error is of no use.
class ClearScope {
 public:
  explicit ClearScope(Tape& tape) : tape_(tape) {}
  ClearScope(const ClearScope&) = delete;
  ClearScope& operator=(const ClearScope&) = delete;
  ~ClearScope() { tape_.Clear(); }

 private:
  Tape& tape_;
};

}  // namespace

Var InActivationType(Context& context, const Var& x) {
  return x.dtype() == DType::kI64 ? x : ToActivation(context, x);
}

void RunChain(Context& context, const LayerChain& chain, VarTuple& vars) {
  const auto layers = std::make_shared<const LayerPointers>(chain.layers);
  std::size_t begin = 0;
  for (const CheckpointSegment& segment : chain.segments) {
    RunSegment(context, layers, vars, begin, segment.begin);
    Checkpoint(context, vars, [layers, segment](Context& ctx, VarTuple& inner) {
      RunSegment(ctx, layers, inner, segment.begin, segment.end);
    });
    begin = segment.end;
  }
  RunSegment(context, layers, vars, begin, layers->size());
}

Tensor RunForward(Context& context, const LayerChain& chain, const VarTuple& inputs,
                  LayerPass& pass) {
  pass.training = context.training();
  pass.step = context.step();
  pass.micro_batch = context.micro_batch();
  const TapeScope scope(context, &pass.tape);
  if (inputs.at(0).dtype() != DType::kI64) pass.input_slot = pass.tape.NewSlot();
  VarTuple vars;
  for (const Var& input : inputs) {
    const int slot = vars.empty() ? pass.input_slot : Var::kNoGradient;
    vars.push_back(InActivationType(context, {input.value, slot}));
  }
  RunChain(context, chain, vars);
  const Var output = vars.at(0);
  pass.output_slot = output.slot;
  pass.output_shape = output.shape();
  pass.output_dtype = output.dtype();
  return output.value;
}

Tensor RunBackward(Context& context, const Tensor& output_gradient, LayerPass& pass) {
  const ClearScope clear(pass.tape);
  if (pass.output_slot == Var::kNoGradient) return {};
  const ForwardStateScope state(context, pass);
  Tensor seed = output_gradient;
  if (seed.dtype() != pass.output_dtype) {
    const TapeScope no_tape(context, nullptr);
    seed = Cast(context, {seed}, pass.output_dtype).value;
  }
  pass.tape.Backward(context, pass.output_slot, std::move(seed));
  return pass.tape.TakeGradient(pass.input_slot);
}

}  // namespace frugal
