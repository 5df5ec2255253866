#include "sdk/plan/chain_steps.h"

#include <algorithm>
#include <random>

#include "sdk/plan/chain_table.h"
#include "tests/catch.h"
#include "tests/plan/small_chains.h"

namespace frugal::testing {
namespace {

class RandomSteps {
 public:
  explicit RandomSteps(unsigned seed) : random_(seed) {}

  std::int64_t Below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }
  ChainSteps Make() {
    ChainSteps steps;
    std::int64_t bytes = Below(20), seconds = 50 + Below(20);
    for (std::int64_t left = Below(9); left > 0; --left) {
      steps.push_back({bytes, static_cast<double>(seconds)});
      bytes += 1 + Below(12);
      seconds -= 1 + Below(5);
    }
    return steps;
  }

 private:
  std::mt19937 random_;
};

TEST_CASE("the fastest of ways is found within any bytes", "[plan][chain]") {
  constexpr std::int64_t kLimit = 120;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomSteps random(seed);
    FastestSteps fastest(kLimit);
    std::vector<double> expected(kLimit + 1, kNeverSeconds);
    for (int way = 0; way < 6; ++way) {
      const ChainSteps one = random.Make(), other = random.Make();
      const std::int64_t least = random.Below(60), beside = random.Below(20) - 5;
      const auto seconds = static_cast<double>(random.Below(30));
      fastest.Take(seconds, least, {one, beside}, {other, 7});
      for (std::int64_t bytes = least; bytes <= kLimit; ++bytes) {
        double& best = expected[static_cast<std::size_t>(bytes)];
        best = std::min(
            best, seconds + SecondsWithin(one, bytes - beside) + SecondsWithin(other, bytes - 7));
      }
    }
    INFO("seed " << seed);
    for (std::int64_t bytes = 0; bytes <= kLimit; ++bytes) {
      REQUIRE(SecondsWithin(fastest.steps(), bytes) == expected[static_cast<std::size_t>(bytes)]);
    }
    for (std::size_t i = 1; i < fastest.steps().size(); ++i) {
      CHECK(fastest.steps()[i - 1].bytes < fastest.steps()[i].bytes);
      CHECK(fastest.steps()[i - 1].seconds > fastest.steps()[i].seconds);
    }
  }
}

TEST_CASE("fewer steps are never below, or never above, those that there were", "[plan][chain]") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomSteps random(seed);
    ChainSteps steps;
    for (std::int64_t i = 0; i < 200; ++i) {
      const std::int64_t before = steps.empty() ? 0 : steps.back().bytes;
      steps.push_back({before + 1 + random.Below(i + 1), 1000.0 - static_cast<double>(i)});
    }
    const ChainSteps none = {{0, 0}};
    for (const std::size_t most : {2U, 3U, 10U, 150U}) {
      for (const StepRounding rounding : {StepRounding::kUp, StepRounding::kDown}) {
        const bool is_up = rounding == StepRounding::kUp;
        FastestSteps fewer(steps.back().bytes);
        fewer.Take(0, 0, {steps}, {none});
        CHECK(fewer.steps() == steps);
        fewer.Thin(most, rounding);
        INFO("seed " << seed << ", at most " << most << (is_up ? " up" : " down"));
        CHECK(fewer.steps().size() <= most);
        CHECK(fewer.steps().size() * 3 >= most);  // not many fewer
        CHECK(fewer.steps().front().bytes == steps.front().bytes);
        for (std::int64_t bytes = 0; bytes <= steps.back().bytes; ++bytes) {
          const double was = SecondsWithin(steps, bytes), is = SecondsWithin(fewer.steps(), bytes);
          REQUIRE((is_up ? is >= was : is <= was));
        }
      }
    }
  }
}

TEST_CASE("a table of few steps still bounds schedules, or still has those that fit",
          "[plan][chain]") {
  std::size_t of_all = 0, of_few = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Chain random = RandomChain(5, seed, 1'000);
    const Chain chain = seed % 2 == 0 ? WithFreedInputs(random) : WithSumsInRows(random, 2);
    std::vector<ChainUnit> units;
    for (std::size_t i = 0; i < chain.size(); ++i) units.push_back({i, i + 1, chain.stages[i]});
    const std::int64_t most = Simulate(chain, {}).peak_bytes;
    const ChainTable exact(units, {}, most, {1'000'000, 1000, StepRounding::kUp});
    INFO("seed " << seed);
    for (const std::size_t steps : {2U, 4U}) {
      const ChainTable up(units, {}, most, {1'000'000, steps, StepRounding::kUp});
      const ChainTable down(units, {}, most,
                            {steps * exact.row_count(), 1000, StepRounding::kDown});
      CHECK(up.steps().front().bytes == exact.steps().front().bytes);
      of_all += exact.step_count();
      of_few += up.step_count();
      for (std::int64_t limit = 0; limit <= most; limit += 1 + most / 500) {
        const double seconds = SecondsWithin(exact.steps(), limit);
        REQUIRE(SecondsWithin(down.steps(), limit) <= seconds);
        REQUIRE(SecondsWithin(up.steps(), limit) >= seconds);
        if (seconds == kNeverSeconds) continue;
        const ChainCost cost = Simulate(chain, up.Schedule(limit));
        REQUIRE(cost.peak_bytes <= limit);
        REQUIRE(cost.seconds <= SecondsWithin(up.steps(), limit));
        REQUIRE(Simulate(chain, exact.Schedule(limit)).seconds == seconds);
      }
    }
  }
  CHECK(of_few * 5 < of_all * 4);
}

}  // namespace
}  // namespace frugal::testing
