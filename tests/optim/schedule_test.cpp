#include "sdk/optim/schedule.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a constant schedule stays", "[optim][schedule]") {
  for (const std::int64_t step : {0, 1, 99, 100000}) CHECK(ScheduleFactor({}, step, 100) == 1);
}

TEST_CASE("every schedule warms up linearly", "[optim][schedule]") {
  for (const ScheduleKind kind :
       {ScheduleKind::kConstant, ScheduleKind::kCosine, ScheduleKind::kStep, ScheduleKind::kLinear,
        ScheduleKind::kPolynomial, ScheduleKind::kExponential, ScheduleKind::kRestarts,
        ScheduleKind::kPlateau}) {
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

void CheckFactors(const ScheduleOptions& schedule, const std::vector<double>& expected) {
  for (std::size_t step = 0; step < expected.size(); ++step) {
    INFO(NameOf(schedule.kind) << ", step " << step);
    const auto number = static_cast<std::int64_t>(step);
    CHECK(ScheduleFactor(schedule, number, 10) == Approx(expected[step]).margin(1e-12));
  }
}

TEST_CASE("schedules are those of PyTorch 1.13 over ten steps", "[optim][schedule]") {
  // OneCycleLR(max_lr=1, total_steps=10, pct_start=0.3, div_factor=25, final_div_factor=1e4)
  CheckFactors({.kind = ScheduleKind::kOneCycle, .final_fraction = 4e-6},
               {0.04, 0.52, 1.0, 0.9504846320134737, 0.8117456539497631, 0.6112620219362893,
                0.38874197806371075, 0.18825834605023697, 0.049519367986526286, 4e-06});
  // CosineAnnealingWarmRestarts(T_0=3, T_mult=2, eta_min=0.1)
  CheckFactors(
      {.kind = ScheduleKind::kRestarts,
       .final_fraction = 0.1,
       .restart_every = 3,
       .restart_factor = 2},
      {1.0, 0.775, 0.325, 1.0, 0.9397114317029974, 0.775, 0.55, 0.325, 0.16028856829700258, 1.0});
  // PolynomialLR(total_iters=9, power=2)
  CheckFactors(
      {.kind = ScheduleKind::kPolynomial},
      {1.0, 0.7901234567901234, 0.6049382716049384, 0.44444444444444464, 0.30864197530864207,
       0.19753086419753088, 0.11111111111111116, 0.04938271604938271, 0.012345679012345689, 0.0});
  // LinearLR(start_factor=1, end_factor=0.1, total_iters=9)
  CheckFactors({.kind = ScheduleKind::kLinear, .final_fraction = 0.1},
               {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1});
  // ExponentialLR(gamma=0.9)
  CheckFactors({.kind = ScheduleKind::kExponential, .step_every = 1, .step_factor = 0.9},
               {1.0, 0.9, 0.81, 0.729});
}

TEST_CASE("every schedule is defined over no steps", "[optim][schedule]") {
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(ScheduleKind::kCount); ++kind) {
    const ScheduleOptions schedule{.kind = static_cast<ScheduleKind>(kind), .warmup_steps = 5};
    for (const std::int64_t total : {0, 1, 5, 6}) {
      for (const std::int64_t step : {5, 6, 100}) {
        const double factor = ScheduleFactor(schedule, step, total);
        CHECK(factor >= 0);
        CHECK(factor <= 1);
      }
    }
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
