// The promises, for the named architectures.
#include <cmath>

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

SmallRun ArchitectureRun(const std::string& architecture,
                         BackendKind backend = BackendKind::kOneDnn) {
  SmallRun run;
  run.network = architecture;
  run.backend = backend;
  run.batch = 6;
  run.max_steps = 3;
  return run;
}

void CheckEveryPreset(SmallRun run) {
  const TempDir directory;
  BuilderFor(run).Build().SaveWeights(directory.File("weights"));
  const Trained plain = Train(run);
  REQUIRE(plain.result.losses.front() != plain.result.losses.back());
  for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
    INFO(NameOf(run.backend) << " " << run.network << " " << name);
    run.memory = memory;
    const Trained trained = Train(run);
    CheckSame(plain, trained);
    CheckPlanIsRun(trained.plan, trained.result, memory.use_activation_pooling);
  }
}

TEST_CASE("every architecture trains its plan under every preset, and computes the same") {
  for (const std::string& name : ArchitectureNames()) CheckEveryPreset(ArchitectureRun(name));
  for (const std::string name : {"gpt2", "resnet18"}) {
    CheckEveryPreset(ArchitectureRun(name, BackendKind::kEigen));
  }
}

TEST_CASE("no way of checkpointing changes what an architecture computes") {
  for (const std::string& name : ArchitectureNames()) {
    SmallRun run = ArchitectureRun(name);
    const Trained plain = Train(run);
    run.memory.use_gradient_checkpointing = true;
    for (const std::int64_t every : {1, 2, 3, 100}) {
      for (const bool attention : {false, true}) {
        for (const bool residual : {false, true}) {
          INFO(name << " every " << every << " attention " << attention << " residual "
                    << residual);
          run.memory.checkpoint_every_n_layers = every;
          run.memory.checkpoint_attention_layers = attention;
          run.memory.checkpoint_residual_blocks = residual;
          const Trained trained = Train(run);
          CheckSame(plain, trained);
          CheckPlanIsRun(trained.plan, trained.result, true);
          // Segments then hold next to nothing but blocks that run once and the ends of segments,
          // which do not run again.
          if (!residual && (!attention || every == 1)) continue;
          CHECK(trained.plan.steps.front().recomputed_flops > 0);
        }
      }
    }
  }
}

TEST_CASE("the arena of an architecture is within 5% of what no layout could go below") {
  const TempDir directory;
  for (const std::string& name : ArchitectureNames()) {
    for (const auto& [preset, memory] : AllPresets(directory.File("none"))) {
      SmallRun run = ArchitectureRun(name);
      run.memory = memory;
      const Plan plan = BuilderFor(run).Plan().plan;
      INFO(name << " " << preset << ": " << plan.arena_bytes << " over "
                << plan.live_lower_bound_bytes);
      CHECK(static_cast<double>(plan.arena_bytes) <=
            1.05 * static_cast<double>(plan.live_lower_bound_bytes));
    }
  }
}

TEST_CASE("updates in backward give the same weights from fewer gradients") {
  for (const std::string& name : ArchitectureNames()) {
    for (const std::int64_t accumulate : {1, 2}) {
      for (const bool checkpointing : {false, true}) {
        INFO(name << " accumulate " << accumulate << " checkpointing " << checkpointing);
        SmallRun run = ArchitectureRun(name);
        run.clip = 0;
        run.accumulate = accumulate;
        run.memory.use_gradient_checkpointing = checkpointing;
        const Trained plain = Train(run);
        run.memory.optimizer_in_backward = true;
        const Trained early = Train(run);
        CHECK(early.result.losses == plain.result.losses);
        CHECK(early.values == plain.values);
        CHECK(early.result.weights_hash == plain.result.weights_hash);
        CheckPlanIsRun(early.plan, early.result, true);
        const std::int64_t peak = early.plan.peak_by_purpose[MemoryTag::kGradient];
        const std::int64_t all = plain.plan.peak_by_purpose[MemoryTag::kGradient];
        CHECK(peak > 0);
        if (accumulate == 1) CHECK(peak < all);
      }
    }
  }
}

}  // namespace
}  // namespace frugal::testing
