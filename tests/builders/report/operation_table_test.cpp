#include "builders/report/text/operation_table.h"

#include "builders/report/html/html_sections.h"
#include "builders/report/json/summary_json.h"
#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {
namespace {

// Two steps of 0.5 s.
OperationProfile SampleProfile() {
  return {
      .steps = 2,
      .seconds = 1,
      .operations = {{OperationKind::kMatmul,
                      true,
                      {.launches = 4, .seconds = 0.6, .flops = 120e9, .bytes = 3e9}},
                     {OperationKind::kNorm, false, {.launches = 2, .seconds = 0.3, .bytes = 6e9}}},
      .limits = MachineLimits{.product_f32 = 400e9, .copy = 40e9}};
}

std::string SectionOf(const TrainingResult& result) {
  const PlannedTraining planned = SampleTraining();
  return OperationsSection({planned, result});
}

}  // namespace

TEST_CASE("Operations stand by their time, beside the machine's limits") {
  CHECK(OperationTableText(SampleProfile()) ==
        "  Operation         calls      ms    time  GFLOP/s  of limit  GB/s  of copy\n"
        "  matmul, backward      2  300.00   60.0%    200.0       50%   5.0      12%\n"
        "  norm                  1  150.00   30.0%        -         -  20.0      50%\n"
        "  outside kernels       -   50.00   10.0%        -         -     -        -\n"
        "  step                  3  500.00  100.0%    120.0       30%   9.0      22%\n"
        "Mean of 2 steps; GB/s of what an operation must at least read and write. This machine's "
        "best, measured behind the run: product 400 GFLOP/s in f32, copy 40.0 GB/s; with every "
        "kind at the nearer of these a step would take 225 ms, 45% of its time.\n");
}

TEST_CASE("At the limits no kind is slower than it ran, and nothing is outside kernels") {
  OperationProfile profile = SampleProfile();
  CHECK(SecondsAtLimits(profile) == Approx(0.225));
  profile.operations[1].totals.bytes = 60e9;  // its data stayed in the caches
  CHECK(SecondsAtLimits(profile) == Approx(0.3));
  profile.operations[0].totals.flops = 0;
  profile.operations[0].totals.bytes = 0;  // nothing is known of its limit
  CHECK(SecondsAtLimits(profile) == Approx(0.45));
}

TEST_CASE("Without limits there are no shares of them, without steps no rates") {
  OperationProfile profile = SampleProfile();
  profile.limits.reset();
  const OperationRow product = OperationRows(profile).front();
  CHECK(product.gflops == Approx(200));
  CHECK(product.product_share == 0);
  CHECK(OperationNote(profile).find("best") == std::string::npos);
  CHECK(!SecondsAtLimits(profile));
  const std::vector<OperationRow> rows = OperationRows(OperationProfile());
  REQUIRE(rows.size() == 2);
  CHECK(rows.back().share == 0);
  OperationProfile none;
  none.limits = MachineLimits{.product_f32 = 400e9, .copy = 40e9};
  CHECK(OperationNote(none).find("step would") == std::string::npos);
}

TEST_CASE("Kernels that took longer than their steps leave nothing outside") {
  OperationProfile profile = SampleProfile();
  profile.seconds = 0.8;  // clocks differ by their own cost
  CHECK(OperationRows(profile)[2].milliseconds == 0);
}

TEST_CASE("The report and the summary carry the operations where they were measured") {
  TrainingResult result = SampleResult();
  CHECK(SectionOf(result) == "");
  result.profile = SampleProfile();
  CHECK(Contains(SectionOf(result), "<h2>Operations</h2>"));
  CHECK(Contains(SectionOf(result), "matmul, backward"));
  CHECK(Contains(SectionOf(result), "outside kernels"));
}

}  // namespace frugal
