#include "sdk/memory/ledger.h"

#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"

namespace frugal {
namespace {

struct Tracked {
  HeapAllocator heap;
  MemoryLedger ledger;
  TrackedAllocator memory{ledger, heap, false};

  Block Take(const char* label, std::int64_t bytes, MemoryTag tag) {
    ledger.SetLabel(ledger.labels().Intern(label));
    return memory.Allocate(bytes, tag);
  }
};

TEST_CASE("the ledger knows what is live and what the peaks were", "[memory][ledger]") {
  Tracked t;
  Block weight = t.Take("a", 1000, MemoryTag::kParameter);
  CHECK(t.ledger.live()[MemoryTag::kParameter] == 1024);
  {
    const Block activation = t.Take("a", 640, MemoryTag::kActivation);
    CHECK(t.ledger.live_total() == 1664);
  }
  CHECK(t.ledger.live_total() == 1024);
  {
    const Block scratch = t.Take("b", 320, MemoryTag::kWorkspace);
    CHECK(t.ledger.peak_total() == 1664);
  }
  weight = Block();
  CHECK(t.ledger.live_total() == 0);
  CHECK(t.heap.live_bytes() == 0);
  const BytesByTag peak = t.ledger.peak();
  CHECK(peak[MemoryTag::kParameter] == 1024);
  CHECK(peak[MemoryTag::kActivation] == 640);
  CHECK(peak[MemoryTag::kWorkspace] == 320);  // at another time than the activation
  CHECK(t.ledger.at_peak()[MemoryTag::kWorkspace] == 0);
  CHECK(t.ledger.at_peak().Total() == t.ledger.peak_total());
}

TEST_CASE("holders are told largest first, one line per name and purpose", "[memory][ledger]") {
  Tracked t;
  CHECK(t.ledger.LargestHolders().empty());
  const Block a1 = t.Take("a", 1024, MemoryTag::kActivation);
  const Block b = t.Take("b", 1536, MemoryTag::kActivation);
  const Block a2 = t.Take("a", 1024, MemoryTag::kActivation);
  const Block a3 = t.Take("a", 64, MemoryTag::kGradient);
  const auto holders = t.ledger.LargestHolders();
  REQUIRE(holders.size() == 3);
  CHECK(DescribeHolders(holders, 2) == "a (activation, 2.0 KB), b (activation, 1.5 KB)");
  CHECK(DescribeHolders(holders, 9) ==
        "a (activation, 2.0 KB), b (activation, 1.5 KB), a (gradient, 64 B)");
  CHECK(DescribeHolders({}, 3).empty());
}

TEST_CASE("a hard limit refuses with the tag, the request and the holders", "[memory][ledger]") {
  Tracked t;
  t.ledger.SetLimit({.bytes = 4096, .hard = true, .name = "max_memory_per_device_mb"});
  const Block a = t.Take("conv1", 2048, MemoryTag::kParameter);
  const Block b = t.Take("conv2", 1024, MemoryTag::kActivation);
  const Block c = t.Take("fc", 512, MemoryTag::kGradient);
  const Block d = t.Take("bn", 256, MemoryTag::kGradient);
  CHECK_THROWS_AS(t.Take("fc", 512, MemoryTag::kWorkspace), MemoryError);
  CHECK_THROWS_WITH(
      t.Take("fc", 512, MemoryTag::kWorkspace),
      "[max_memory_per_device_mb] live memory stays within 4.0 KB; fc asks for 512 B of workspace "
      "while 3.8 KB are live (parameter 2.0 KB, gradient 768 B, activation 1.0 KB); the largest "
      "holders are conv1 (parameter, 2.0 KB), conv2 "
      "(activation, 1.0 KB), fc (gradient, 512 B); raise the limit, use a smaller batch or "
      "gradient checkpointing");
  CHECK(t.ledger.live_total() == 3840);  // nothing was entered
  CHECK(t.heap.live_bytes() == 3840);
  const Block rest = t.Take("fc", 256, MemoryTag::kWorkspace);  // exactly up to the limit
  CHECK(t.ledger.live_total() == 4096);
}

TEST_CASE("a warning comes once, at its fraction of the limit", "[memory][ledger]") {
  Tracked t;
  std::vector<std::string> warnings;
  t.ledger.SetLimit({.bytes = 10240,
                     .name = "physical memory",
                     .warning_fraction = 0.5,
                     .warn = [&](const std::string& text) { warnings.push_back(text); }});
  const Block a = t.Take("conv1", 4096, MemoryTag::kParameter);
  CHECK(warnings.empty());
  const Block b = t.Take("conv2", 1024, MemoryTag::kActivation);
  const Block c = t.Take("conv3", 20480, MemoryTag::kActivation);  // a soft limit refuses nothing
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "memory use passes 5.0 KB of 10.0 KB (physical memory); the largest holders are conv1 "
        "(parameter, 4.0 KB)");
}

TEST_CASE("a request that the system refuses leaves the ledger as it was", "[memory][ledger]") {
  Tracked t;
  CHECK_THROWS_AS(t.Take("a", std::int64_t{1} << 46, MemoryTag::kActivation), MemoryError);
  CHECK(t.ledger.live_total() == 0);
  CHECK(t.ledger.peak_total() == 0);
  CHECK(t.ledger.LargestHolders().empty());
}

TEST_CASE("no more is live than a process can address, planned or not", "[memory][ledger]") {
  NullAllocator null;
  MemoryLedger ledger;
  TrackedAllocator memory(ledger, null, true);
  std::vector<Block> blocks;
  for (int i = 0; i < 127; ++i) {
    blocks.push_back(memory.Allocate(std::int64_t{1} << 40, MemoryTag::kActivation));
  }
  ledger.SetLabel(ledger.labels().Intern("conv1"));
  CHECK_THROWS_WITH(memory.Allocate(std::int64_t{1} << 51, MemoryTag::kActivation),
                    "[memory] no more is live at once than a process can address, 134,217,728 MB; "
                    "conv1 asks for 2,147,483,648 MB of activation while 133,169,152 MB are live; "
                    "use smaller layers, samples or batches");
  CHECK(ledger.live_total() == std::int64_t{127} << 40);
}

}  // namespace
}  // namespace frugal
