// Ranks on threads of one process exchange numbers, to the bit as the order of ranks says, and end
// together where one of them fails.
#include "sdk/comm/thread_ranks.h"

#include <atomic>
#include <cstring>
#include <future>
#include <numeric>
#include <random>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "sdk/core/bfloat16.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

using Bytes = std::vector<std::byte>;

// Holds random numbers of each rank.
struct Case {
  int size;
  std::int64_t count;
  DType dtype;

  Bytes NumbersOf(int rank) const {
    std::mt19937_64 random(static_cast<std::uint64_t>(std::int64_t{1000} * rank + count));
    std::normal_distribution<double> normal(0, 3);
    Bytes bytes(static_cast<std::size_t>(count * SizeOf(dtype)));
    for (std::int64_t i = 0; i < count; ++i) Set(bytes, i, normal(random));
    return bytes;
  }
  void Set(Bytes& bytes, std::int64_t i, double value) const {
    std::byte* at = bytes.data() + i * SizeOf(dtype);
    const auto narrow = static_cast<float>(value);
    const BFloat16 narrowest(narrow);
    if (dtype == DType::kF64) std::memcpy(at, &value, sizeof value);
    if (dtype == DType::kF32) std::memcpy(at, &narrow, sizeof narrow);
    if (dtype == DType::kBF16) std::memcpy(at, &narrowest, sizeof narrowest);
  }
  template <class T>
  static T Get(const Bytes& bytes, std::int64_t i) {
    T value;
    std::memcpy(&value, bytes.data() + i * static_cast<std::int64_t>(sizeof(T)), sizeof value);
    return value;
  }

  // Returns the sums in the order of ranks, added one by one.
  Bytes Sums() const {
    Bytes sums = NumbersOf(0);
    for (std::int64_t i = 0; i < count; ++i) {
      if (dtype == DType::kF64) {
        double sum = Get<double>(sums, i);
        for (int rank = 1; rank < size; ++rank) sum += Get<double>(NumbersOf(rank), i);
        Set(sums, i, sum);
      } else if (dtype == DType::kF32) {
        float sum = Get<float>(sums, i);
        for (int rank = 1; rank < size; ++rank) sum += Get<float>(NumbersOf(rank), i);
        Set(sums, i, static_cast<double>(sum));
      } else {
        auto sum = static_cast<float>(Get<BFloat16>(sums, i));
        for (int rank = 1; rank < size; ++rank) {
          sum += static_cast<float>(Get<BFloat16>(NumbersOf(rank), i));
        }
        Set(sums, i, static_cast<double>(sum));
      }
    }
    return sums;
  }
};

CommBuffer BufferOf(Bytes& bytes, const Case& one) {
  return {.data = bytes.data(), .count = one.count, .dtype = one.dtype};
}

Case RandomCase() {
  const int size = GENERATE(1, 2, 3, 5);
  const std::int64_t count = GENERATE(0, 1, 4, 131, 5000);
  const DType dtype = GENERATE(DType::kF32, DType::kF64, DType::kBF16);
  return {size, count, dtype};
}

TEST_CASE("all-reduce leaves the sums in the order of ranks with every rank", "[comm]") {
  const Case one = RandomCase();
  const Bytes sums = one.Sums();
  std::vector<Bytes> results(static_cast<std::size_t>(one.size));
  std::vector<Traffic> traffic(results.size());
  RunThreadRanks(one.size, [&](Communicator& ranks) {
    Bytes numbers = one.NumbersOf(ranks.rank());
    ranks.AllReduce(BufferOf(numbers, one), "numbers");
    traffic[static_cast<std::size_t>(ranks.rank())] = ranks.traffic();
    results[static_cast<std::size_t>(ranks.rank())] = std::move(numbers);
  });
  std::int64_t sent = 0;
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    INFO("rank " << rank << " of " << one.size << ", " << one.count << " " << NameOf(one.dtype));
    CHECK(results[rank] == sums);
    sent += traffic[rank].bytes;
  }
  CHECK(sent == std::int64_t{2} * (one.size - 1) * one.count * SizeOf(one.dtype));
}

TEST_CASE("reduce-scatter and all-gather are the halves of all-reduce", "[comm]") {
  const Case one = RandomCase();
  const Bytes sums = one.Sums();
  std::vector<Bytes> results(static_cast<std::size_t>(one.size));
  RunThreadRanks(one.size, [&](Communicator& ranks) {
    Bytes numbers = one.NumbersOf(ranks.rank());
    ranks.ReduceScatter(BufferOf(numbers, one), "numbers");
    const CommPart part = PartOf(one.count, one.size, ranks.rank());
    const std::int64_t element = SizeOf(one.dtype);
    Bytes gathered(numbers.size(), std::byte{7});
    std::memcpy(gathered.data() + part.begin * element, numbers.data() + part.begin * element,
                static_cast<std::size_t>(part.count * element));
    ranks.AllGather(BufferOf(gathered, one), "numbers");
    results[static_cast<std::size_t>(ranks.rank())] = std::move(gathered);
  });
  for (const Bytes& result : results) CHECK(result == sums);
}

TEST_CASE("parts follow each other and differ by one at most", "[comm]") {
  for (std::int64_t count : {0, 1, 7, 1000, 1001}) {
    for (int size = 1; size <= 9; ++size) {
      std::int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const CommPart part = PartOf(count, size, rank);
        CHECK(part.begin == next);
        CHECK((part.count == count / size || part.count == count / size + 1));
        next += part.count;
      }
      CHECK(next == count);
    }
  }
}

TEST_CASE("a broadcast brings every rank the root's numbers", "[comm]") {
  const Case one = RandomCase();
  const int root = one.size - 1;
  RunThreadRanks(one.size, [&](Communicator& ranks) {
    Bytes numbers = one.NumbersOf(ranks.rank());
    ranks.Broadcast(BufferOf(numbers, one), root, "numbers");
    if (numbers != one.NumbersOf(root)) throw std::runtime_error("other numbers");
  });
}

TEST_CASE("messages arrive in order, and neighbours may exchange at once", "[comm]") {
  const int size = GENERATE(2, 3, 4);
  RunThreadRanks(size, [&](Communicator& ranks) {
    const int next = (ranks.rank() + 1) % size, before = (ranks.rank() + size - 1) % size;
    for (std::int64_t round = 0; round < 50; ++round) {
      std::vector<std::int64_t> sent(static_cast<std::size_t>(round % 7), ranks.rank() + round);
      std::vector<std::int64_t> received(sent.size());
      ranks.Exchange({sent.data(), std::ssize(sent), DType::kI64}, next,
                     {received.data(), std::ssize(received), DType::kI64}, before, "a ring");
      for (const std::int64_t value : received) {
        if (value != before + round) throw std::runtime_error("another round's message");
      }
    }
    // A chain from the first rank to the last.
    std::int64_t token = 41;
    if (ranks.rank() > 0) ranks.Receive({&token, 1, DType::kI64}, ranks.rank() - 1, "a token");
    ++token;
    if (ranks.rank() + 1 < size) ranks.Send({&token, 1, DType::kI64}, ranks.rank() + 1, "a token");
    if (token != 42 + ranks.rank()) throw std::runtime_error("another token");
  });
}

TEST_CASE("a group splits by color, and its parts split again", "[comm]") {
  RunThreadRanks(6, [&](Communicator& ranks) {
    for (int round = 0; round < 3; ++round) {
      const auto part = ranks.Split(ranks.rank() % 2, "parity");
      if (part->size() != 3 || part->rank() != ranks.rank() / 2) {
        throw std::runtime_error("another part");
      }
      double sum = ranks.rank();
      part->AllReduce({&sum, 1, DType::kF64}, "ranks");
      if (sum != (ranks.rank() % 2 == 0 ? 0 + 2 + 4 : 1 + 3 + 5)) {
        throw std::runtime_error("another sum");
      }
      const auto alone = part->Split(part->rank(), "each alone");
      alone->AllReduce({&sum, 1, DType::kF64}, "itself");
      if (alone->size() != 1) throw std::runtime_error("not alone");
    }
  });
}

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
