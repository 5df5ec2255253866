// Losses and schedules that programs register are known by name like ours.
#include <cmath>

#include "builders/config/run_config_reader.h"
#include "builders/config/text/training_text.h"
#include "builders/reference/kind_docs.h"
#include "sdk/core/error.h"
#include "sdk/ops/arithmetic.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/loss.h"
#include "sdk/optim/schedule_registry.h"
#include "sdk/train/loss_registry.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

Var DoubledEntropy(Context& context, const Var& output, const Tensor& targets) {
  return Scale(context, CrossEntropy(context, output, targets), 2);
}

double Sawtooth(std::int64_t step, std::int64_t) { return 1 - 0.2 * static_cast<double>(step % 4); }

void RegisterOnce() {
  if (Losses().Find("doubled_entropy") != nullptr) return;
  Losses().Add(
      {.name = "doubled_entropy", .doc = "Twice the cross entropy.", .function = DoubledEntropy});
  Schedules().Add({.name = "sawtooth", .doc = "Falls and starts again.", .function = Sawtooth});
}

TEST_CASE("every loss and schedule of ours has its row", "[own]") {
  for (std::size_t i = 0; i < kLossKindCount; ++i) {
    const LossRow* row = Losses().Find(NameOf(static_cast<LossKind>(i)));
    REQUIRE(row != nullptr);
    CHECK_FALSE(row->function);
    CHECK_FALSE(row->doc.empty());
  }
  for (int i = 0; i < static_cast<int>(ScheduleKind::kCount); ++i) {
    CHECK(Schedules().Find(NameOf(static_cast<ScheduleKind>(i))) != nullptr);
  }
  CHECK_THROWS_WITH(Losses().Add({.name = "mse"}), Contains("there is one called \"mse\" already"));
}

TEST_CASE("a loss and a schedule by name train as their functions do", "[own]") {
  RegisterOnce();
  SmallRun run;
  run.network = "convnet";
  run.threads = 1;
  const auto trained = [](const AiModelBuilder& builder) {
    Model model = builder.Build();
    return Train(model);
  };
  const Trained expected = trained(BuilderFor(run).Loss(DoubledEntropy).Schedule(Sawtooth));
  const Trained named =
      trained(BuilderFor(run).Override({"loss.kind=doubled_entropy", "schedule.kind=sawtooth"}));
  CheckSame(expected, named);
  CheckPlanIsRun(named.plan, named.result, false);
  CHECK_FALSE(expected.result.losses == trained(BuilderFor(run)).result.losses);
  const Trained ours =
      trained(BuilderFor(run)
                  .Loss(DoubledEntropy)
                  .Override({"loss.kind=cross_entropy"}));  // the later word counts
  CHECK(ours.result.losses == trained(BuilderFor(run)).result.losses);
}

TEST_CASE("registered losses and schedules are read, written, documented and refused", "[own]") {
  RegisterOnce();
  const std::string text =
      "[model]\nfamily = \"gpt2\"\n[loss]\nkind = \"doubled_entropy\"\n"
      "[schedule]\nkind = \"sawtooth\"\n";
  const RunConfig config = ReadRunConfigText(text, "own.toml", {}, true);
  CHECK(config.loss.function);
  CHECK(NameOf(config.loss) == "doubled_entropy");
  CHECK(config.schedule.function(5, 10) == 0.8);
  const RunConfig again = ReadRunConfigText(TrainingText(config), "again.toml", {}, true);
  CHECK(again.loss.name == "doubled_entropy");
  CHECK(again.schedule.name == "sawtooth");
  CHECK_THAT(RunConfigSchema(), Contains("\"doubled_entropy\"") && Contains("\"sawtooth\""));
  CHECK(DocOfKind("loss", "doubled_entropy") == "Twice the cross entropy.");
  CHECK(DocOfKind("schedule", "sawtooth") == "Falls and starts again.");
  CHECK_THROWS_WITH(ReadRunConfigText("[loss]\nkind = \"doubled_entropi\"\n", "own.toml", {}, true),
                    Contains("did you mean 'doubled_entropy'?"));
  CHECK_THROWS_WITH(ReadRunConfigText(text + "power = 3.0\n", "own.toml", {}, true),
                    Contains("power belongs to the schedule") && Contains("sawtooth"));
}

}  // namespace
}  // namespace frugal::testing
