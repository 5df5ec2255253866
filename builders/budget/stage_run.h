#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "builders/budget/stage.h"
#include "builders/dry_run/trial.h"
#include "builders/setup/dry_environment.h"
#include "sdk/autograd/checkpoint.h"

namespace frugal {

// Runs one stage dry in an environment of its own, so that all it takes is its own.
class StageRun {
 public:
  using Row = std::optional<RowBefore>;  // nothing where the first input is kept

  // Gradients of parameters come and go with the stage where `final_after` says how often each is
  // added to (Trial::final_after); where it is empty, they are there throughout.
  StageRun(const TrainingSetup& setup, TupleSegment run, const Stage& stage,
           std::span<const std::int64_t> final_after);

  // Forward without a tape; weights are there afterwards.
  void Plain(ChainStage& chain);
  // Forward on a tape, as the end of what runs again, and back; the first input is in that row.
  // It needs what Taped has measured of the same row.
  void Ending(Stage& stage, const Row& row);
  // Forward on a tape, and back, of stage number `place`. Returns what goes on to the next stage.
  // A stage behind makes an output that is rematerialized, since it reads it; where
  // `is_output_read` is false, none does, and this stage's own backward pass makes it.
  std::vector<StageInput> Taped(Stage& stage, std::size_t place, const Row& row,
                                bool is_output_read = true);

 private:
  // Rematerializes an input as the sums of a row are: from a branch and the sums before it, which
  // stay for their own stages.
  Tensor MadeAgain(Context& context, const StageInput& input, const RowBefore& row);
  VarTuple OnTape(Tape& tape, const Stage& stage, const Row& first);
  // Stages work on the first variable; skips are held by whoever takes them.
  std::int64_t RematerializedBytes(const VarTuple& vars) const;
  double InputBytes() const;
  // A pass on a tape may free the first input where it is in a row, or where nothing else holds it.
  // That counts with the stage before where it is in no row.
  struct FreeableInput {
    std::int64_t bytes = 0;
    std::int64_t counted_before = 0;
  };
  FreeableInput FreeableInputOf(const Stage& stage, const Row& row) const;
  // Returns which input this is, if it is one.
  std::optional<std::size_t> InputOf(const Var& one) const;
  bool IsInput(const Var& one) const { return InputOf(one).has_value(); }
  std::vector<StageInput> NextInputs(const Stage& stage, std::size_t place,
                                     const VarTuple& vars) const;
  // Returns the skips that came in and do not go out, unless the stage before made it.
  std::vector<SkipConnection> Taken(const Stage& stage, std::size_t place,
                                    const VarTuple& vars) const;
  // Returns the bytes of what comes out, each tensor once, but skips that are handed on.
  std::int64_t NewBytes(const VarTuple& vars) const;
  // Gives gradients to the outputs as the next stages leave them, once the outputs are gone.
  // Returns true where the first of these is free then.
  bool SeedNew(Context& context, Tape& tape, VarTuple vars);
  // Makes an output again as the stage behind does, and with it sums of this stage in its row,
  // which stay. Returns what that takes.
  std::int64_t MakeRow(Remat& output);

  // Runs the backward pass and frees each gradient as soon as it is final, as updates in it do.
  void RunBackward(Tape& tape);

  DryEnvironment environment_;
  TupleSegment run_;
  const std::vector<Parameter*>& parameters_;
  std::span<const std::int64_t> final_after_;
  VarTuple inputs_;
  const void* first_;         // of the inputs of the pass that runs
  std::vector<Tensor> held_;  // made for the stage, and needed by those before it
  bool reads_first_ = false;  // the first input was made again since the forward pass
};

}  // namespace frugal
