// Ranks on threads of one process end together where one of them fails.
#include "sdk/comm/thread_ranks.h"

#include <atomic>
#include <future>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

std::string FailureOf(int size, const std::function<void(Communicator&)>& body) {
  try {
    RunThreadRanks(size, body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("the error of a rank ends all others and is what is thrown", "[comm]") {
  std::atomic<int> ended = 0;
  const std::string text = FailureOf(3, [&](Communicator& ranks) {
    ranks.set_step(3);
    if (ranks.rank() == 1) {
      throw DataError({.where = "file", .required = "it can be read", .given = {}, .advice = {}});
    }
    try {
      float value = 1;
      ranks.AllReduce({&value, 1, DType::kF32}, "gradients");
    } catch (const CommunicationError& error) {
      ++ended;
      const std::string what = error.what();
      if (what.find(", step 3, all-reduce of gradients] all ranks take part; rank 1 failed: ") ==
          std::string::npos) {
        throw std::runtime_error(what);
      }
      throw;
    }
  });
  CHECK(text == "[rank 1, file] it can be read");
  CHECK(ended == 2);
}

TEST_CASE("a rank that gave up a collective operation is not met there any more", "[comm]") {
  std::promise<void> gave_up;
  const std::string text = FailureOf(3, [&](Communicator& ranks) {
    const auto pair = ranks.Split(ranks.rank() / 2, "pairs");
    if (ranks.rank() == 2) throw std::runtime_error("no disk");
    if (ranks.rank() == 1) gave_up.get_future().wait();
    std::vector<float> values(100, 1);
    try {
      pair->AllReduce({values.data(), std::ssize(values), DType::kF32}, "gradients");
    } catch (const CommunicationError&) {
      values = {};
      if (ranks.rank() == 0) gave_up.set_value();
      throw;
    }
    throw std::runtime_error("rank " + std::to_string(ranks.rank()) + " met a rank that left");
  });
  CHECK(text == "no disk");
}

TEST_CASE("a run of no rank is refused", "[comm]") {
  CHECK_THROWS_WITH(RunThreadRanks(0, [](Communicator&) {}),
                    "[RunThreadRanks] at least one rank runs; size = 0");
}

TEST_CASE("ranks that come to different operations are told which", "[comm]") {
  CHECK(FailureOf(2,
                  [](Communicator& ranks) {
                    std::vector<float> values(static_cast<std::size_t>(3 + ranks.rank()));
                    ranks.AllReduce({values.data(), std::ssize(values), DType::kF32}, "weights");
                  })
            .ends_with("all-reduce of weights] all ranks of a group come to the same operation, "
                       "with buffers of one size; rank 0 came to all-reduce of weights, 3 f32, "
                       "rank 1 to all-reduce of weights, 4 f32; give all ranks one configuration"));
}

TEST_CASE("ranks that wait for each other are told so, and so is who waits for a rank that left",
          "[comm]") {
  float value = 0;
  CHECK(FailureOf(2,
                  [&](Communicator& ranks) {
                    ranks.Receive({&value, 1, DType::kF32}, 1 - ranks.rank(), "a gradient");
                  })
            .find("no rank can go on: rank 0 waits in receive of a gradient from rank 1, rank 1 "
                  "waits in receive of a gradient from rank 0") != std::string::npos);
  CHECK(FailureOf(2,
                  [&](Communicator& ranks) {
                    if (ranks.rank() == 0) ranks.Barrier("an end");
                  }) ==
        "[rank 0, barrier of an end] all ranks take part; no rank can go on: rank 0 waits in "
        "barrier of an end, rank 1 has ended");
  CHECK(FailureOf(2,
                  [&](Communicator& ranks) {
                    if (ranks.rank() == 0) ranks.Send({&value, 1, DType::kF32}, 1, "a value");
                    double wide = 0;
                    if (ranks.rank() == 1) ranks.Receive({&wide, 1, DType::kF64}, 0, "a value");
                  }) ==
        "[rank 1, receive of a value from rank 0] the message is one of 1 f64; a value of 1 "
        "f32 arrived; give all ranks one configuration");
}

TEST_CASE("misuse of a group is refused before anybody waits", "[comm]") {
  const auto self = MakeSelfCommunicator();
  std::int64_t count = 0;
  const CommBuffer buffer = {&count, 1, DType::kI64};
  CHECK_THROWS_AS(self->AllReduce(buffer, "counts"), UsageError);
  CHECK_THROWS_AS(self->Send(buffer, 0, "counts"), UsageError);
  CHECK_THROWS_AS(self->Receive(buffer, 1, "counts"), UsageError);
  self->AllGather(buffer, "counts");
  self->Broadcast(buffer, 0, "counts");
  CHECK(self->traffic() == Traffic());
}

}  // namespace
}  // namespace frugal::testing
