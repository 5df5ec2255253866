#include "sdk/capture/profile/entry_times.h"

#include <algorithm>
#include <cmath>

#include "sdk/capture/call_selection.h"
#include "sdk/capture/capture_error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

EntryTime TimeOf(double median, double spread) {
  EntryTime time;
  time.operation = "scale", time.path = "a \"b\"", time.backend = "onednn";
  time.warm = StatisticsOf({median * (1 - spread / 2), median, median * (1 + spread / 2)});
  time.cold = time.warm;
  time.flops = 100, time.bytes = 200, time.product_limit = 1000, time.copy_limit = 1000;
  return time;
}

TEST_CASE("statistics of samples are those of the definitions") {
  const SampleStatistics s = StatisticsOf({4, 1, 3, 2, 5});
  CHECK(s.count == 5);
  CHECK(s.mean == 3);
  CHECK(s.median == 3);
  CHECK(s.lower_quartile == 2);
  CHECK(s.upper_quartile == 4);
  CHECK(s.error == Approx(std::sqrt(2.5) / std::sqrt(5.0) / 3));
  CHECK(StatisticsOf({}).count == 0);
  CHECK(StatisticsOf({2}).error == 0);
}

TEST_CASE("what bounds an entry is what it is nearest to") {
  EntryTime time = TimeOf(1, 0);
  CHECK(time.bound() == TimeBound::kMemory);
  time.flops = 500;
  CHECK(time.bound() == TimeBound::kProducts);
  time.bytes = 3000;
  CHECK(time.bound() == TimeBound::kCaches);
  time.bytes = time.flops = 1;
  CHECK(time.bound() == TimeBound::kOverhead);
}

TEST_CASE("a comparison knows the noise of both profiles") {
  std::vector<EntryTime> times = {TimeOf(1.1, 0.01)};
  CompareWith({TimeOf(1, 0.01)}, times);
  CHECK(times[0].before_ratio == Approx(1.1));
  CHECK(times[0].IsSlower());
  CompareWith({TimeOf(1, 0.4)}, times);
  CHECK(!times[0].IsSlower());
  EntryTime on_a_faster_machine = TimeOf(1, 0.01);
  on_a_faster_machine.product_limit = 1200;
  times = {TimeOf(1.1, 0.01)};
  CompareWith({on_a_faster_machine}, times);
  CHECK(!times[0].IsSlower());
  times = {TimeOf(0.8, 0.01)};
  CompareWith({TimeOf(1, 0.01)}, times);
  CHECK(times[0].IsFaster());
  EntryTime other = TimeOf(1, 0);
  other.backend = "eigen";
  times = {TimeOf(5, 0.01)};
  CompareWith({other}, times);
  CHECK(!times[0].IsSlower());
}

TEST_CASE("profiles come back from JSON as they were") {
  const std::vector<EntryTime> times = {TimeOf(1, 0.1), TimeOf(2, 0.1)};
  const std::string text = ProfileJson(times, "policy");
  CHECK(ProfileJson(ProfileFromJson(text, "here"), "policy") == text);
  CHECK_THROWS_AS(ProfileFromJson("{}", "here"), CaptureError);
  CHECK_THROWS_AS(ProfileFromJson("[", "here"), CaptureError);
  const std::string csv = ProfileCsv(times);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  CHECK(csv.find("\"a \"\"b\"\"\"") != std::string::npos);
}

TEST_CASE("patterns take any text for a star and one character for a question mark") {
  CHECK(FitsPattern("attention*", "attention_forward"));
  CHECK(FitsPattern("*", ""));
  CHECK(FitsPattern("a*b*c", "axxbyybzc"));
  CHECK(!FitsPattern("a*b*c", "axxbyybz"));
  CHECK(FitsPattern("h.?.mlp", "h.3.mlp"));
  CHECK(!FitsPattern("h.?.mlp", "h.13.mlp"));
  CHECK(!FitsPattern("gather", "gather_all"));
}

}  // namespace
}  // namespace frugal
