#include "sdk/optim/schedule.h"

#include <cmath>
#include <numbers>

#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a constant schedule stays", "[optim][schedule]") {
  for (const std::int64_t step : {0, 1, 99, 100000}) CHECK(ScheduleFactor({}, step, 100) == 1);
}

TEST_CASE("every schedule warms up linearly", "[optim][schedule]") {
  for (const ScheduleKind kind :
       {ScheduleKind::kConstant, ScheduleKind::kCosine, ScheduleKind::kStep}) {
    const ScheduleOptions schedule{.kind = kind, .warmup_steps = 4};
    for (std::int64_t step = 0; step < 4; ++step) {
      CHECK(ScheduleFactor(schedule, step, 100) == Approx(0.25 * static_cast<double>(step + 1)));
    }
    CHECK(ScheduleFactor(schedule, 4, 100) == 1);
  }
}

TEST_CASE("the cosine falls from one to its final fraction", "[optim][schedule]") {
  const ScheduleOptions schedule{
      .kind = ScheduleKind::kCosine, .warmup_steps = 10, .final_fraction = 0.2};
  double previous = 1;
  for (std::int64_t step = 11; step < 111; ++step) {
    const double factor = ScheduleFactor(schedule, step, 111);
    CHECK(factor < previous);
    CHECK(factor > 0.2 - 1e-12);
    previous = factor;
  }
  CHECK(ScheduleFactor(schedule, 60, 111) == Approx(0.6));  // half way
  CHECK(ScheduleFactor(schedule, 35, 111) ==
        Approx(0.2 + 0.8 * 0.5 * (1 + std::cos(std::numbers::pi / 4))));
  CHECK(ScheduleFactor(schedule, 110, 111) == Approx(0.2));  // the last step
  CHECK(ScheduleFactor(schedule, 500, 111) == Approx(0.2));  // and stays there
}

TEST_CASE("a cosine over no steps is defined", "[optim][schedule]") {
  const ScheduleOptions schedule{.kind = ScheduleKind::kCosine, .warmup_steps = 5};
  for (const std::int64_t total : {0, 1, 5}) {
    CHECK(std::isfinite(ScheduleFactor(schedule, 5, total)));
  }
}

TEST_CASE("the step schedule drops every so many steps", "[optim][schedule]") {
  const ScheduleOptions schedule{
      .kind = ScheduleKind::kStep, .warmup_steps = 2, .step_every = 3, .step_factor = 0.5};
  const double expected[] = {0.5, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25};
  for (std::int64_t step = 0; step < 9; ++step) {
    CHECK(ScheduleFactor(schedule, step, 9) == Approx(expected[step]));
  }
}

TEST_CASE("a step schedule over no steps is defined", "[optim][schedule]") {
  const ScheduleOptions schedule{.kind = ScheduleKind::kStep, .step_every = 0, .step_factor = 0.5};
  CHECK(ScheduleFactor(schedule, 3, 9) == Approx(0.125));
}

TEST_CASE("schedules have names", "[optim][schedule]") {
  CHECK(NameOf(ScheduleKind::kConstant) == "constant");
  CHECK(NameOf(ScheduleKind::kCosine) == "cosine");
  CHECK(NameOf(ScheduleKind::kStep) == "step");
}

}  // namespace
}  // namespace frugal
