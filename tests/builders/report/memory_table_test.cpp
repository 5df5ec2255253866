#include "builders/report/text/memory_table.h"

#include "builders/report/rows/memory_rows.h"
#include "tests/builders/report/sample_run.h"
#include "tests/catch.h"

namespace frugal {

TEST_CASE("Planned and measured bytes stand side by side") {
  TrainingResult result = SampleResult();
  result.memory.pool = PoolStatistics{.hits = 3, .misses = 4, .evictions = 1};
  CHECK(MemoryTableText(SamplePlan(), result) ==
        "  Peak memory   planned bytes  measured bytes\n"
        "  parameter             2,048           2,048  =                  2.0 KB\n"
        "  activation            8,000           8,000  =                  7.8 KB\n"
        "  data                  1,024           1,024  =                  1.0 KB\n"
        "  all together         11,072          11,072  =                 10.8 KB\n"
        "  arena                 9,000          12,288  = in whole pages  12.0 KB\n"
        "  process, peak resident            50.0 MB\n"
        "  allocations after the first step  0\n"
        "  tensor pool                       3 hits, 4 misses, 1 evictions, 0 B idle\n");
}

TEST_CASE("Differences are marked with their size and sign") {
  TrainingResult result = SampleResult();
  result.memory.peak_by_purpose = BytesOf(2047, 10000, 1024);
  result.memory.peak_by_purpose[MemoryTag::kCommunication] = 8;
  result.memory.arena_bytes = 16384;
  const std::vector<MemoryRow> rows = MemoryRows(SamplePlan(), result);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].mark == "-1");
  CHECK(rows[1].mark == "+2,000");
  CHECK_FALSE(rows[1].equal);
  CHECK(rows[2].name == "communication");
  CHECK(rows[2].mark == "+8");
  CHECK(rows[3].equal);
  CHECK(rows[5].mark == "+7,384");
}

TEST_CASE("Where the heap serves the steps there is no arena to compare") {
  Plan plan = SamplePlan();
  plan.arena_kept_bytes = 0;
  TrainingResult result = SampleResult();
  result.memory.arena_bytes = 0;
  CHECK(MemoryRows(plan, result).back().name == "all together");
  CHECK(MemoryRows(Plan(), TrainingResult()).size() == 1);
}

}  // namespace frugal
