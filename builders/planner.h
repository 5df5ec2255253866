#pragma once

#include "builders/blueprint.h"

namespace frugal {

// Chooses the checkpoint segments, sets them on the network, and fills blueprint.plan by running
// the training's steps dry, in the order in which they will run.
void MakePlan(Blueprint& blueprint);

// Plans one more kind of step, e.g. a prediction of another batch size, on what is live after
// training has begun.
StepPlan PlanStep(const Blueprint& blueprint, StepKind kind, std::int64_t batch);

// The batch sizes of each kind of step that the program runs, in order of first use.
struct PlannedStep {
  StepKind kind = StepKind::kTrain;
  std::int64_t batch = 0;
  std::int64_t times = 0;  // how often the program runs it, at most 2 (a second run finds the
                           // optimizer's state already there)
};
std::vector<PlannedStep> StepsOf(const TrainingProgram& program);

}  // namespace frugal
