#include "sdk/plan/chain_planner.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include "sdk/plan/baseline_schedules.h"
#include "sdk/plan/local_search_moves.h"
#include "tests/catch.h"
#include "tests/plan/small_chains.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

Chain EqualStages(std::size_t count) {
  return MakingAll({{count, ChainStage{1, 0, 1, 1, 0, 0, 0}}});
}

TEST_CASE("a simulation of two stages by hand", "[plan][chain]") {
  Chain chain = MakingAll({{{1, 2, 10, 30, 5, 7, 4}, {3, 4, 20, 50, 1, 2, 3}}});
  const ChainCost kept = Simulate(chain, {});
  CHECK(kept.seconds == 10);
  // Backward of the second: both kept, the gradient of its output, its workspace.
  CHECK(kept.peak_bytes == 30 + 50 + 20 + 3);
  const ChainCost dropped = Simulate(chain, {{0, 1}});
  CHECK(dropped.seconds == 11);
  CHECK(dropped.peak_bytes == 10 + 50 + 20 + 3);
  chain.stages[0].ending_seconds = 0.25;
  CHECK(Simulate(chain, {}).seconds == 10);
  CHECK(Simulate(chain, {{0, 1}}).seconds == 10.25);
}

TEST_CASE("a simulation of a rematerialized output, by hand", "[plan][chain]") {
  Chain chain =
      MakingAll({{{1, 2, 10, 30, 0, 7, 4}, {1, 1, 2, 50, 1, 2, 3}, {1, 1, 5, 6, 0, 0, 2}}});
  // Backward of the third, all kept.
  CHECK(Simulate(chain, {}).peak_bytes == 30 + 50 + 6 + 5 + 2);
  // The first output is free while the third runs. The most is live as the second ends its forward
  // pass, which reads it, beside the gradient of the last output.
  chain.stages[0].rematerialized_bytes = 10;
  CHECK(Simulate(chain, {}).peak_bytes == 5 + 20 + 10 + 50 + 1);
  // It is there again while a segment that reads it runs again. What a stage that is kept takes to
  // read it again is among its own workspace.
  CHECK(Simulate(chain, {{1, 2}}).peak_bytes == 20 + 10 + 50 + 2 + 3);
  CHECK(Simulate(chain, {{0, 2}}).peak_bytes == 20 + 10 + 50 + 2 + 1);
  CHECK(KeptBytes(TapedBytesOf(Merge(PartOf(chain, 0, 2)), 0)) == 20 + 50);
  CHECK(KeptBytes(TapedBytesOf(Merge(PartOf(chain, 0, 1)), 0)) == 20);
  CHECK(Merge(PartOf(chain, 0, 1)).rematerialized_bytes == 10);
}

TEST_CASE("a simulation of a value carried past a stage, by hand", "[plan][chain]") {
  const Chain chain = MakingAll({{{1, 2, 10, 30, 5, 7, 4},
                                  {1, 1, 20, 50, 1, 2, 3},
                                  {1, 1, 20, 21, 0, 0, 0},
                                  {1, 1, 10, 15, 0, 0, 12}},
                                 {{.made = 0, .taken = 3, .bytes = 10}}});
  // Backward of the fourth, all kept.
  CHECK(Simulate(chain, {}).peak_bytes == 30 + 50 + 21 + 15 + 10 + 12);
  // The first three run again: the gradients of the third's output and of what the fourth took.
  CHECK(Simulate(chain, {{0, 3}}).peak_bytes == 20 + 10 + 30 + 50 + 21);
  CHECK(Simulate(chain, {{0, 3}, {3, 4}}).peak_bytes == 20 + 10 + 30 + 50 + 21);
  // Where the first is kept, what it made is still there beside its gradient.
  CHECK(Simulate(chain, {{1, 3}}).peak_bytes == 30 + 20 + 10 + 50 + 21);
  // While the third runs for the first time: its input, its output, what is carried, the gradient
  // of the last output.
  Chain light = chain;
  for (ChainStage& stage : light.stages) stage.saved_bytes = 0;
  CHECK(Simulate(light, {{0, 3}}).peak_bytes == 20 + 20 + 10 + 10);
  CHECK(Merge(PartOf(chain, 0, 3)).output_bytes == 20 + 10);
  CHECK(PartOf(chain, 1, 4).carried.empty());
}

TEST_CASE("nothing is faster than the table's schedule within its memory", "[plan][chain]") {
  for (std::size_t count = 1; count <= 5; ++count) {
    const auto schedules = AllSchedules(0, count);
    for (std::uint64_t seed = 0; seed < (count < 5 ? 12U : 6U); ++seed) {
      const Chain blocks = WithEqualBlocks(RandomChain(count, seed, 1), seed % 3);
      Chain chain = seed % 2 == 0 ? blocks : WithFreedInputs(blocks);
      chain.waiting_bytes = static_cast<std::int64_t>(seed % 4) * 7;
      std::vector<ChainCost> costs;
      for (const auto& segments : schedules) costs.push_back(Simulate(chain, segments));
      const std::int64_t most = Simulate(chain, {}).peak_bytes;
      ChainSolver solver(chain);
      for (std::int64_t limit = 0; limit <= most + 1; ++limit) {
        double best = std::numeric_limits<double>::infinity();
        for (const ChainCost& cost : costs) {
          if (cost.peak_bytes <= limit) best = std::min(best, cost.seconds);
        }
        INFO(count << " stages, seed " << seed << ", limit " << limit);
        REQUIRE(solver.Seconds(limit) == best);
        if (std::isinf(best)) continue;
        const ChainCost cost = Simulate(chain, solver.Schedule(limit));
        REQUIRE(cost.seconds == best);
        REQUIRE(cost.peak_bytes <= limit);
      }
    }
  }
}

// The planner tries limits on either side of its tables' for values that are carried.
TEST_CASE("the planner's schedules are near the fastest of all", "[plan][chain]") {
  for (const std::size_t skips : {0U, 1U, 2U}) {
    double slower = 0;
    int limits = 0, missed = 0;
    for (const std::size_t count : {4U, 5U}) {
      const auto schedules = AllSchedules(0, count);
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Chain chain = WithSkips(RandomChain(count, seed, 100), skips);
        std::vector<ChainCost> costs;
        for (const auto& segments : schedules) costs.push_back(Simulate(chain, segments));
        const auto [least, most] = std::ranges::minmax(costs, {}, &ChainCost::peak_bytes);
        ChainPlanner planner(chain);
        for (std::int64_t limit = least.peak_bytes; limit < most.peak_bytes; limit += 100) {
          double fastest = std::numeric_limits<double>::infinity();
          for (const ChainCost& cost : costs) {
            if (cost.peak_bytes <= limit) fastest = std::min(fastest, cost.seconds);
          }
          const auto found = planner.Fastest(limit);
          INFO(skips << " skips, " << count << " stages, seed " << seed << ", limit " << limit);
          ++limits;
          if (!found) {
            ++missed;
            continue;
          }
          CHECK(found->cost.peak_bytes <= limit);
          CHECK(found->cost.seconds >= fastest);
          slower += found->cost.seconds / fastest - 1;
        }
      }
    }
    INFO(skips << " skips: " << slower / limits << " slower, " << missed << " of " << limits);
    CHECK(slower <= 0.003 * limits);
    CHECK(missed <= (skips == 0 ? 0 : limits / 50));
  }
}

void CheckLimits(const Chain& chain) {
  const std::size_t count = chain.size();
  ChainPlanner planner(chain);
  const std::int64_t least = planner.Least().cost.peak_bytes;
  const std::int64_t most = planner.keep_all().cost.peak_bytes;
  CHECK(least <= most);
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 20; ++i) {
    const std::int64_t limit = least + (most - least) * i / 20;
    const auto choice = planner.Fastest(limit);
    if (!choice) continue;
    INFO(count << " stages within " << limit);
    CHECK(choice->cost.peak_bytes <= limit);
    const ChainCost again = Simulate(chain, choice->segments);
    CHECK(again.seconds == choice->cost.seconds);
    CHECK(choice->cost.seconds <= before * (1 + 1e-9));
    before = choice->cost.seconds;
  }
  CHECK(before == planner.keep_all().cost.seconds);
}

TEST_CASE("schedules never pass their limit, and more memory is never slower", "[plan][chain]") {
  for (const std::size_t count : {7U, 40U, 100U, 137U, 400U}) {
    const Chain chain = RandomChain(count, count, 1'000'003);
    CheckLimits(chain);
    if (count < 400) CheckLimits(WithSkips(chain, 20));
  }
}

TEST_CASE("known schedules are never better at the memory that they take", "[plan][chain]") {
  for (const std::size_t count : {12U, 64U, 100U, 300U}) {
    const auto chain = RandomChain(count, 7 * count, 1'000'003);
    ChainPlanner planner(chain);
    std::vector<CheckpointSegments> known = {SqrtN(count, false), SqrtN(count, true)};
    for (std::size_t n = 1; n < count; n += 1 + n / 8) known.push_back(EveryN(count, n, false));
    for (const std::size_t n : {2U, 3U, 5U, 9U}) known.push_back(Binomial(count, n));
    for (const CheckpointSegments& segments : known) {
      const ChainCost cost = Simulate(chain, segments);
      const auto choice = planner.Fastest(cost.peak_bytes);
      REQUIRE(choice);
      CHECK(choice->cost.seconds <= cost.seconds);
      CHECK(choice->cost.peak_bytes <= cost.peak_bytes);
    }
  }
}

TEST_CASE("up to a hundred stages the table itself beats what is known", "[plan][chain]") {
  const auto chain = RandomChain(100, 3, 1'000'003);
  ChainSolver solver(chain);
  for (const CheckpointSegments& segments :
       {SqrtN(99, false), EveryN(99, 4, true), Binomial(100, 6), Binomial(100, 12)}) {
    const ChainCost cost = Simulate(chain, segments);
    const std::int64_t limit = cost.peak_bytes + cost.peak_bytes / 50;  // rows have too many steps
    CHECK(solver.Seconds(limit) < cost.seconds);
  }
}

// Seconds of a core that it takes to find the fastest schedule within so many bytes from nothing,
// at best: other machines on the host take their share.
double SecondsToPlan(const Chain& chain, std::int64_t limit) {
  double best = 1e9;
  for (int trial = 0; trial < 3 && best >= 1; ++trial) {
    const std::clock_t start = std::clock();
    ChainPlanner planner(chain);
    CHECK(planner.Least().cost.peak_bytes <= limit);
    CHECK(planner.Fastest(limit));
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST_CASE("2,500 stages are planned in under a second", "[plan][chain][needs-plain]") {
  FRUGAL_SKIP_UNLESS(!frugal::testing::kIsSanitized, "a sanitizer has time of its own");
  for (const bool equal : {true, false}) {
    auto chain = RandomChain(2500, 1, 1'000'003);
    if (equal) std::ranges::fill(chain.stages, ChainStage(chain.stages.front()));
    ChainPlanner planner(chain);
    const std::int64_t least = planner.Least().cost.peak_bytes;
    const std::int64_t most = planner.keep_all().cost.peak_bytes;
    CHECK(least * 20 < most);
    for (int i = 0; i < 10; ++i) {
      const double taken = SecondsToPlan(chain, least + (most - least) * i / 10);
      INFO((equal ? "equal" : "different") << " stages, limit " << i << ": " << taken << " s");
      CHECK(taken < 1.0);
    }
  }
}

TEST_CASE("there is a schedule at the least memory of one", "[plan][chain]") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::size_t count = 1 + seed % 12;
    const auto chain = RandomChain(count, seed, seed % 3 == 0 ? 1 : 999 + 7919 * (seed % 5));
    ChainSolver solver(chain);
    const std::int64_t least = solver.LeastBytes();
    INFO("seed " << seed << ", " << least << " bytes");
    REQUIRE(std::isfinite(solver.Seconds(least)));
    const ChainCost cost = Simulate(chain, solver.Schedule(least));
    CHECK(cost.seconds == Approx(solver.Seconds(least)));
    CHECK(cost.peak_bytes <= least);
  }
}

TEST_CASE("long chains have no schedule that runs a stage hundreds of times", "[plan][chain]") {
  const Chain chain = EqualStages(2500);
  const ChainPlanner planner(chain);
  const auto binomials = std::ranges::count_if(planner.known(), [](const ChainChoice& choice) {
    return choice.method.starts_with("binomial");
  });
  CHECK(binomials > 5);
  for (const ChainChoice& choice : planner.known()) {
    INFO(choice.method);
    CHECK(choice.cost.seconds <= 9 * planner.keep_all().cost.seconds);
  }
}

TEST_CASE("moves of a schedule run less again", "[plan][chain]") {
  CHECK(MovesOf({}).empty());
  const CheckpointSegments segments = {{0, 4, {{0, 3, {{1, 2, {}}}}}}, {5, 6, {}}};
  using Kind = ScheduleMove::Kind;
  const std::vector<std::pair<Kind, CheckpointSegments>> expected = {
      {Kind::kDissolve, {{0, 3, {{1, 2, {}}}}, {5, 6, {}}}},
      {Kind::kDissolve, {{0, 4, {{1, 2, {}}}}, {5, 6, {}}}},
      {Kind::kDissolve, {{0, 4, {{0, 3, {}}}}, {5, 6, {}}}},
      {Kind::kDissolve, {{0, 4, {{0, 3, {{1, 2, {}}}}}}}},
      {Kind::kBeginLater, {{1, 4, {{1, 3, {{1, 2, {}}}}}}, {5, 6, {}}}},
      {Kind::kEndEarlier, {{0, 3, {{0, 3, {{1, 2, {}}}}}}, {5, 6, {}}}},
      {Kind::kBeginLater, {{0, 4, {{1, 3, {{1, 2, {}}}}}}, {5, 6, {}}}},
      {Kind::kEndEarlier, {{0, 4, {{0, 2, {{1, 2, {}}}}}}, {5, 6, {}}}},
      {Kind::kCut, {{0, 1, {}}, {1, 4, {{1, 3, {{1, 2, {}}}}}}, {5, 6, {}}}},
      {Kind::kCut, {{0, 2, {{1, 2, {}}}}, {2, 4, {{2, 3, {}}}}, {5, 6, {}}}},
      {Kind::kCut, {{0, 3, {{1, 2, {}}}}, {3, 4, {}}, {5, 6, {}}}},
      {Kind::kCut, {{0, 4, {{0, 1, {}}, {1, 3, {{1, 2, {}}}}}}, {5, 6, {}}}},
      {Kind::kCut, {{0, 4, {{0, 2, {{1, 2, {}}}}, {2, 3, {}}}}, {5, 6, {}}}}};
  const std::vector<ScheduleMove> moves = MovesOf(segments);
  REQUIRE(moves.size() == expected.size());
  const auto chain = RandomChain(7, 6, 1000);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    CAPTURE(i);
    CHECK(moves[i].kind == expected[i].first);
    const CheckpointSegments moved = Moved(segments, moves[i]);
    CHECK(moved == expected[i].second);
    const double saved = Simulate(chain, segments).seconds - Simulate(chain, moved).seconds;
    CHECK(saved >= 0);
    // A cut saves where the stage before it takes less as the end of what runs again.
    if (moves[i].kind != Kind::kCut) CHECK(saved > 0);
  }
}

// Takes the fastest move that fits until none is faster, each by a whole simulation.
CheckpointSegments SimulatedDescent(const Chain& chain, CheckpointSegments segments,
                                    std::int64_t peak_bytes) {
  for (;;) {
    CheckpointSegments best = segments;
    double seconds = Simulate(chain, segments).seconds;
    for (const ScheduleMove& move : MovesOf(segments)) {
      const CheckpointSegments moved = Moved(segments, move);
      const ChainCost cost = Simulate(chain, moved);
      if (cost.peak_bytes > peak_bytes || cost.seconds >= seconds) continue;
      seconds = cost.seconds;
      best = moved;
    }
    if (best == segments) return segments;
    segments = best;
  }
}

TEST_CASE("a schedule is shortened by the fastest moves that fit", "[plan][chain]") {
  int shortened = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Chain chain = RandomChain(9, seed, 100);
    if (seed % 2 == 1) chain.carried = {{0, 7, 500}, {2, 5, 300}, {4, 9, 200}};
    const ChainPlanner planner(chain);
    for (const ChainChoice& known : planner.known()) {
      for (const std::int64_t more : {0, 1500}) {
        const std::int64_t limit = known.cost.peak_bytes + more;
        const ChainChoice found = planner.Shortened(known, limit);
        CHECK(found.segments == SimulatedDescent(chain, known.segments, limit));
        shortened += found.segments != known.segments ? 1 : 0;
      }
    }
  }
  CHECK(shortened > 500);
}

TEST_CASE("what cannot fit is nothing, and a chain of nothing costs nothing", "[plan][chain]") {
  ChainPlanner planner(RandomChain(9, 5, 1000));
  const std::int64_t least = planner.Least().cost.peak_bytes;
  CHECK_FALSE(planner.Fastest(0));
  CHECK_FALSE(planner.Fastest(least / 2));
  CHECK(planner.Fastest(least));
  ChainPlanner nothing({});
  CHECK(nothing.Fastest(0)->segments.empty());
  CHECK(nothing.Least().cost.peak_bytes == 0);
  ChainPlanner one(RandomChain(1, 5, 1000));
  CHECK(one.Least().segments.empty());
}

TEST_CASE("binomial schedules run equal stages the fewest times", "[plan][chain]") {
  const Chain chain = EqualStages(10);
  // Griewank and Walther, table: 10 steps, 3 snapshots: 15 extra forward steps, none more than
  // twice, since (3 + 2 choose 3) = 10.
  CHECK(Simulate(chain, Binomial(10, 3)).seconds == 10 + 15);
  CHECK(Simulate(chain, Binomial(10, 1)).seconds == 10 + 45);
  CHECK(Simulate(chain, Binomial(10, 9)).seconds == 10 + 9);
}

}  // namespace
}  // namespace frugal::testing
