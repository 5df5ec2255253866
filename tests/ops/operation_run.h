#pragma once

#include "tests/ops/gradient_model.h"

// One operation of several inputs in every environment: fast kernels against the reference, bf16
// roughly against f64, dry against real.
namespace frugal::testing {

struct OperationRun {
  Tensor output;  // copies; empty in a dry environment
  std::vector<Tensor> gradients;
  std::int64_t peak = 0;
  std::vector<std::int64_t> lives;  // bytes, begin, end of each block
};

inline OperationRun RunOperation(const EnvironmentKind& kind, const CheckedFunction& function,
                                 const std::vector<Shape>& shapes) {
  TestEnvironment environment(kind);
  Context& context = environment.context();
  MemoryTrace trace;
  environment.ledger().RecordInto(&trace);
  Tape tape;
  OperationRun run;
  {
    const TapeScope scope(context, &tape);
    std::vector<Var> inputs;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      inputs.push_back({RandomTensor(shapes[i], 40 + i, kind.dtype), tape.NewSlot()});
    }
    Var output = function(context, inputs);
    const Tensor gradient = RandomTensor(output.shape(), 99, output.dtype());
    if (!kind.dry) run.output = CopyOf(output.value);
    const int slot = std::exchange(output, Var()).slot;
    tape.Backward(context, slot, gradient);
    for (const Var& input : inputs) {
      const Tensor arrived = tape.TakeGradient(input.slot);
      run.gradients.push_back(arrived && !kind.dry ? CopyOf(arrived) : Tensor());
    }
  }
  environment.ledger().RecordInto(nullptr);
  run.peak = environment.ledger().peak_total();
  for (const Lifetime& life : trace.lifetimes()) {
    run.lives.insert(run.lives.end(), {life.bytes, life.begin, life.end});
  }
  return run;
}

inline void CheckAgree(const OperationRun& run, const OperationRun& exact, double tolerance) {
  CHECK(RelativeError(run.output, exact.output) < tolerance);
  REQUIRE(run.gradients.size() == exact.gradients.size());
  for (std::size_t i = 0; i < run.gradients.size(); ++i) {
    INFO("gradient of input " << i);
    REQUIRE(static_cast<bool>(run.gradients[i]) == static_cast<bool>(exact.gradients[i]));
    if (run.gradients[i]) CHECK(RelativeError(run.gradients[i], exact.gradients[i]) < tolerance);
  }
}

inline void CheckInEveryEnvironment(const CheckedFunction& function,
                                    const std::vector<Shape>& shapes) {
  const OperationRun exact = RunOperation(kReferenceF64, function, shapes);
  std::vector<EnvironmentKind> kinds = AllEnvironments();
  kinds.push_back(kOneDnnBf16);
  for (EnvironmentKind kind : kinds) {
    INFO(kind);
    const OperationRun run = RunOperation(kind, function, shapes);
    CheckAgree(run, exact, kind.dtype == DType::kBF16 ? 2e-2 : 2e-5);
    kind.dry = true;
    const OperationRun dry = RunOperation(kind, function, shapes);
    CHECK(dry.peak == run.peak);
    CHECK(dry.lives == run.lives);
  }
}

}  // namespace frugal::testing
