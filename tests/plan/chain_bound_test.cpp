#include "sdk/plan/chain_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sdk/plan/chain_planner.h"
#include "tests/catch.h"
#include "tests/plan/small_chains.h"

namespace frugal::testing {
namespace {

// Costs of all schedules, by which bounds are judged.
class Exhaustive {
 public:
  explicit Exhaustive(const Chain& chain) {
    for (const CheckpointSegments& segments : AllSchedules(0, chain.size())) {
      costs_.push_back(Simulate(chain, segments));
    }
  }
  double FastestWithin(std::int64_t bytes) const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const ChainCost& cost : costs_) {
      if (cost.peak_bytes <= bytes) fastest = std::min(fastest, cost.seconds);
    }
    return fastest;
  }
  std::int64_t LeastBytes() const {
    return std::ranges::min_element(costs_, {}, &ChainCost::peak_bytes)->peak_bytes;
  }

 private:
  std::vector<ChainCost> costs_;
};

TEST_CASE("on a small chain the bound is what the fastest of all schedules takes",
          "[plan][chain]") {
  for (std::size_t count = 1; count <= 5; ++count) {
    for (std::uint64_t seed = 0; seed < (count < 5 ? 12U : 6U); ++seed) {
      const Chain chain = WithEqualBlocks(RandomChain(count, seed, 1), seed % 3);
      const Exhaustive all(chain);
      const std::int64_t most = Simulate(chain, {}).peak_bytes;
      const ChainBound bound(chain, most);
      INFO(count << " stages, seed " << seed);
      CHECK(bound.LeastBytes() == all.LeastBytes());
      for (std::int64_t limit = 0; limit <= most; ++limit) {
        REQUIRE(bound.LeastSeconds(limit) == all.FastestWithin(limit));
      }
    }
  }
}

TEST_CASE("nothing is faster than the bound, where values are carried too", "[plan][chain]") {
  for (const std::size_t skips : {0U, 1U, 2U}) {
    double below = 0;
    int limits = 0;
    for (const std::size_t count : {3U, 4U, 5U}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Chain blocks = WithEqualBlocks(RandomChain(count, seed, 100'003), seed % 3);
        const Chain chain = WithSkips(blocks, skips);
        const Exhaustive all(chain);
        const std::int64_t most = Simulate(chain, {}).peak_bytes;
        ChainBound whole(chain, most);
        INFO(skips << " skips, " << count << " stages, seed " << seed);
        CHECK(whole.LeastBytes() <= all.LeastBytes());
        for (std::int64_t i = 0; i <= 50; ++i) {
          const std::int64_t limit = most * i / 50;
          const double fastest = all.FastestWithin(limit);
          REQUIRE(whole.LeastSeconds(limit) <= fastest);
          REQUIRE(whole.BranchAndBound(limit, fastest).seconds <= fastest);
          const double least = ChainBound(chain, limit).LeastSeconds(limit);
          REQUIRE(least <= fastest);
          if (std::isinf(fastest)) continue;
          below += 1 - least / fastest;
          ++limits;
        }
      }
    }
    INFO(skips << " skips: " << below / limits << " below the fastest on average");
    CHECK(below <= (skips == 0 ? 0 : 0.008) * limits);
  }
}

TEST_CASE("branch and bound finds the fastest schedule of a chain whose values are carried",
          "[plan][chain]") {
  double below = 0, below_by_one_table = 0;
  int limits = 0, exact = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Chain chain = WithSkips(RandomChain(4 + seed % 2, seed, 1), 1 + seed % 3);
    const Exhaustive all(chain);
    const std::int64_t most = Simulate(chain, {}).peak_bytes;
    ChainBound bound(chain, most);
    INFO("seed " << seed);
    for (std::int64_t limit = all.LeastBytes(); limit <= most; limit += 1 + most / 40) {
      const double fastest = all.FastestWithin(limit), one = bound.LeastSeconds(limit);
      const ChainBound::Branched branched = bound.BranchAndBound(limit, 2 * fastest);
      REQUIRE(one <= branched.seconds);
      REQUIRE(branched.seconds <= fastest);
      REQUIRE(bound.BranchAndBound(limit, fastest).seconds <= fastest);
      CHECK(bound.BranchAndBound(limit, one).seconds == one);
      if (branched.counts_all && Simulate(chain, branched.fastest).peak_bytes <= limit) {
        REQUIRE(std::abs(branched.seconds - fastest) <= 1e-12 * fastest);
        ++exact;
      }
      below += 1 - branched.seconds / fastest;
      below_by_one_table += 1 - one / fastest;
      ++limits;
    }
  }
  INFO(below << " below the fastest, " << below_by_one_table << " by one table, of " << limits
             << " limits; " << exact << " exact");
  CHECK(below <= 0.0025 * limits);
  CHECK(exact >= 0.95 * limits);
}

void CheckExact(const Chain& chain, const Exhaustive& all) {
  const std::int64_t most = Simulate(chain, {}).peak_bytes;
  const ChainBound bound(chain, most);
  CHECK(bound.LeastBytes() == all.LeastBytes());
  for (std::int64_t limit = 0; limit <= most; ++limit) {
    REQUIRE(bound.LeastSeconds(limit) == all.FastestWithin(limit));
  }
}

TEST_CASE("where sums in a row are kept depends on the schedule, and the bound knows it",
          "[plan][chain]") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Chain chain = WithSumsInRows(RandomChain(5, seed, 1), 1 + seed % 3);
    INFO("seed " << seed);
    CheckExact(chain, Exhaustive(chain));
  }
}

TEST_CASE("stages that free their inputs may leave less than there was, and the bound knows it",
          "[plan][chain]") {
  int freed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Chain chain = WithFreedInputs(RandomChain(5, seed, 1));
    chain.waiting_bytes = static_cast<std::int64_t>(seed % 3) * 10;
    for (const ChainStage& stage : chain.stages) freed += stage.saved_bytes < 0 ? 1 : 0;
    INFO("seed " << seed);
    CheckExact(chain, Exhaustive(chain));
  }
  CHECK(freed > 0);
}

TEST_CASE("what a planner chooses is between its bound and a hundredth above it", "[plan][chain]") {
  for (const std::size_t count : {12U, 25U, 50U}) {
    const Chain chain = RandomChain(count, count, 1'000'003);
    ChainPlanner planner(chain);
    const std::int64_t least = planner.Least().cost.peak_bytes;
    const std::int64_t most = planner.keep_all().cost.peak_bytes;
    for (int i = 1; i < 8; ++i) {
      const std::int64_t limit = least + (most - least) * i / 8;
      const auto chosen = planner.Fastest(limit);
      REQUIRE(chosen);
      const double bound = ChainBound(chain, limit).LeastSeconds(limit);
      INFO(count << " stages, limit " << i << ": " << chosen->cost.seconds / bound);
      CHECK(bound <= chosen->cost.seconds);
      CHECK(chosen->cost.seconds <= 1.01 * bound);
    }
  }
}

TEST_CASE("a bound of a chain of any length is below what is found", "[plan][chain]") {
  for (const std::size_t count : {5U, 101U, 400U}) {
    const Chain chain = RandomChain(count, count, 1'000'003);
    ChainPlanner planner(chain);
    const ChainChoice least = planner.Least();
    const std::int64_t most = planner.keep_all().cost.peak_bytes;
    for (int i = 0; i <= 4; ++i) {
      const std::int64_t limit = least.cost.peak_bytes + (most - least.cost.peak_bytes) * i / 4;
      const ChainBound bound(chain, limit);
      CHECK(bound.LeastBytes() <= least.cost.peak_bytes);
      const auto chosen = planner.Fastest(limit);
      if (chosen) CHECK(bound.LeastSeconds(limit) <= chosen->cost.seconds * (1 + 1e-12));
    }
    CHECK(std::isinf(ChainBound(chain, 1).LeastSeconds(1)));
  }
}

}  // namespace
}  // namespace frugal::testing
