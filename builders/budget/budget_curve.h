#pragma once

#include "builders/setup/training_setup.h"
#include "sdk/plan/budget_curve.h"

namespace frugal {

// Plans ways to train under limits between keeping all and the least, each whole, and the same with
// each choice of what lies in the page file, where there is one. Other settings are those of the
// configuration, as stated. Leaves the network of the setup without segments. Takes as long as some
// twenty plans for each choice, and measures the disk's rate once.
BudgetCurve CurveOf(const TrainingSetup& setup);

}  // namespace frugal
