#include "builders/plan/cautions.h"

#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "builders/report/rows/plan_notes.h"
#include "tests/builders/plan_refusal.h"

namespace frugal::testing {
namespace {

// Plans the file and returns the refusal.
TEST_CASE("a network without parameters is refused") {
  CHECK(PlanRefusal("[[model.layers]]\ntype = \"flatten\"\n[loss]\nkind = \"cross_entropy\"\n") ==
        "run.toml:1:1: [model] a network with parameters to train; none of its layers has any; add "
        "one that has, such as dense");
}

TEST_CASE("a warm-up that never ends is said in the plan") {
  const std::string text =
      "[data]\ntrain_limit = 640\n[training]\nbatch_size = 64\nepochs = 1\n"
      "[[model.layers]]\ntype = \"flatten\"\n"
      "[[model.layers]]\ntype = \"dense\"\nunits = 10\n";
  const auto notes = [&](const std::string& warmup) {
    const PlannedTraining planned =
        PlanTraining(ReadRunConfigText(text, "run.toml", {"schedule.warmup_steps=" + warmup}));
    std::string all;
    for (const std::string& note : NotesOn(planned)) all += note + "\n";
    return all;
  };
  CheckContains(notes("11"), "schedule.warmup_steps = 11 is more than the 10 steps");
  CHECK(notes("10").find("warmup_steps") == std::string::npos);
}

}  // namespace
}  // namespace frugal::testing
