// Ranks that are processes learn of it where another one fails, leaves, or comes to something else.
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/process/shared_memory.h"
#include "tests/catch.h"
#include "tests/comm/rank_kinds.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

std::string ProcessFailureOf(int size, const std::function<void(Communicator&)>& body) {
  try {
    RunRanks(RankKind::kSharedMemory, size, body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

// Counts how often this process has mapped memory that ranks share.
int MappedRanks() {
  int count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    count += line.find("frugal-ranks") != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST_CASE("a sum that another process's error leaves pending keeps no shared memory",
          "[comm][processes]") {
  int mapped = 0;
  const std::string text = ProcessFailureOf(2, [&](Communicator& ranks) {
    if (ranks.rank() == 0) {
      mapped = MappedRanks();
      throw std::runtime_error("an end");
    }
    float value = 1;
    ranks.AllReduce({&value, 1, DType::kF32}, "gradients");
  });
  CHECK(text == "an end");
  CHECK(mapped > 0);
  CHECK(MappedRanks() == 0);
}

TEST_CASE("the error of a process ends those that wait for it", "[comm][processes]") {
  std::vector<std::string> seen(3);  // by rank; checks belong to one thread
  const std::string text = ProcessFailureOf(3, [&](Communicator& ranks) {
    ranks.set_step(3);
    if (ranks.rank() == 1) {
      throw DataError({.where = "file", .required = "it can be read", .given = {}, .advice = {}});
    }
    float value = 1;
    try {
      ranks.AllReduce({&value, 1, DType::kF32}, "gradients");
    } catch (const LostRankError& error) {
      seen[static_cast<std::size_t>(ranks.rank())] = error.what();
      throw;
    }
  });
  CHECK(text == "[rank 1, file] it can be read");
  for (const std::size_t rank : {0, 2}) {
    CHECK_THAT(seen[rank],
               Contains(", step 3, all-reduce of gradients] all ranks take part; rank 1 "
                        "failed: [file] it can be read"));
  }
}

TEST_CASE("processes that come to different operations are told which", "[comm][processes]") {
  CHECK_THAT(ProcessFailureOf(
                 2,
                 [](Communicator& ranks) {
                   std::vector<float> values(static_cast<std::size_t>(3 + ranks.rank()));
                   ranks.AllReduce({values.data(), std::ssize(values), DType::kF32}, "weights");
                 }),
             Contains("all-reduce of weights] all ranks of a group come to the same operation, "
                      "with buffers of one size; rank ") &&
                 Contains("all-reduce of weights, 3 f32") && Contains("weights, 4 f32"));
  CHECK_THAT(ProcessFailureOf(2,
                              [](Communicator& ranks) {
                                double value = 0;
                                const CommBuffer buffer = {&value, 1, DType::kF64};
                                ranks.rank() == 0 ? ranks.AllReduce(buffer, "losses")
                                                  : ranks.Broadcast(buffer, 1, "a seed");
                              }),
             Contains("broadcast of a seed, 1 f64 from rank 1") &&
                 Contains("all-reduce of losses, 1 f64"));
}

TEST_CASE("who waits for a process that has left is told so", "[comm][processes]") {
  CHECK_THAT(ProcessFailureOf(2,
                              [](Communicator& ranks) {
                                if (ranks.rank() == 0) ranks.Barrier("an end");
                              }),
             Contains("rank 0, barrier of an end] all ranks take part; rank 1 has ended"));
}

TEST_CASE(
    "a message of many chunks waits for the reader, and what was sent before it arrives first",
    "[comm][processes]") {
  constexpr std::int64_t kCount = 3'000'000;
  RunRanks(RankKind::kSharedMemory, 2, [](Communicator& ranks) {
    std::vector<float> large(kCount), small(5);
    const CommBuffer large_one = {large.data(), kCount, DType::kF32};
    const CommBuffer small_one = {small.data(), std::ssize(small), DType::kF32};
    if (ranks.rank() == 0) {
      for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<float>(i % 1000);
      small.assign(5, 7.0F);
      const auto first = ranks.StartSend(large_one, 1, "activations");
      const auto second = ranks.StartSend(small_one, 1, "a skip");
      double sum = 1;
      ranks.AllReduce({&sum, 1, DType::kF64}, "losses");
      second->Wait();
      first->Wait();
    } else {
      ranks.Receive(large_one, 0, "activations");
      ranks.Receive(small_one, 0, "a skip");
      for (std::size_t i = 0; i < large.size(); ++i) {
        if (large[i] != static_cast<float>(i % 1000)) throw std::runtime_error("another number");
      }
      double sum = 2;
      ranks.AllReduce({&sum, 1, DType::kF64}, "losses");
      if (small != std::vector<float>(5, 7.0F) || sum != 3) throw std::runtime_error("wrong");
    }
  });
}

TEST_CASE("shared memory leaves no name behind, and says where there is no room",
          "[comm][processes]") {
  std::string name;
  {
    const SharedMemory memory = SharedMemory::Create(4096);
    name = "/dev/shm" + memory.name();
    CHECK(std::filesystem::exists(name));
    const SharedMemory other = SharedMemory::Open(memory.name(), 4096);
    memory.data()[17] = std::byte{3};
    CHECK(other.data()[17] == std::byte{3});
  }
  CHECK_FALSE(std::filesystem::exists(name));
  CHECK_THROWS_WITH(SharedMemory::Create(std::int64_t{1} << 60),
                    Contains("processes of one machine share") && Contains("--shm-size"));
  CHECK_THROWS_WITH(SharedMemory::Open("/frugal-ranks-none", 4096), Contains("cannot be opened"));
}

}  // namespace
}  // namespace frugal::testing
