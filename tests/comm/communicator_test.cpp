// Ranks exchange numbers, to the bit as the order of ranks says, however they are connected.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "sdk/comm/communication_error.h"
#include "sdk/core/bfloat16.h"
#include "tests/catch.h"
#include "tests/comm/rank_kinds.h"

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

  static std::size_t At(int rank) { return static_cast<std::size_t>(rank); }

  // Returns the sums in the order of ranks, added one by one.
  Bytes Sums() const {
    std::vector<Bytes> all;
    for (int rank = 0; rank < size; ++rank) all.push_back(NumbersOf(rank));
    Bytes sums = all.front();
    for (std::int64_t i = 0; i < count; ++i) {
      if (dtype == DType::kF64) {
        double sum = Get<double>(sums, i);
        for (int rank = 1; rank < size; ++rank) sum += Get<double>(all[At(rank)], i);
        Set(sums, i, sum);
      } else if (dtype == DType::kF32) {
        float sum = Get<float>(sums, i);
        for (int rank = 1; rank < size; ++rank) sum += Get<float>(all[At(rank)], i);
        Set(sums, i, static_cast<double>(sum));
      } else {
        auto sum = static_cast<float>(Get<BFloat16>(sums, i));
        for (int rank = 1; rank < size; ++rank) {
          sum += static_cast<float>(Get<BFloat16>(all[At(rank)], i));
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
  const std::int64_t count = GENERATE(0, 1, 4, 131, 5000, 100'001);
  const DType dtype = GENERATE(DType::kF32, DType::kF64, DType::kBF16);
  return {size, count, dtype};
}

TEST_CASE("all-reduce leaves the sums in the order of ranks with every rank", "[comm]") {
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  const Case one = RandomCase();
  const Bytes sums = one.Sums();
  std::vector<Bytes> results(static_cast<std::size_t>(one.size));
  std::vector<Traffic> traffic(results.size());
  RunRanks(kind, one.size, [&](Communicator& ranks) {
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

TEST_CASE("sums that go on come to the same bits, for all or for one rank", "[comm]") {
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  constexpr int kSums = 5;
  std::vector<Case> cases;
  const Case first = RandomCase();
  const int size = first.size;
  for (int i = 0; i < kSums; ++i) {
    cases.push_back({size, first.count + std::int64_t{7000} * i, first.dtype});
  }
  const auto root_of = [&](int i) { return i % 2 == 0 ? std::optional<int>() : i % size; };
  std::vector<std::vector<Bytes>> results(static_cast<std::size_t>(size));
  std::vector<Traffic> traffic(results.size());
  RunRanks(kind, size, [&](Communicator& ranks) {
    const auto pairs = ranks.Split(ranks.rank() / 2, "pairs");
    auto& own = results[static_cast<std::size_t>(ranks.rank())];
    for (const Case& one : cases) own.push_back(one.NumbersOf(ranks.rank()));
    std::vector<std::unique_ptr<PendingSum>> sums;
    for (int i = 0; i < kSums; ++i) {
      const auto at = static_cast<std::size_t>(i);
      sums.push_back(ranks.StartSum(BufferOf(own[at], cases[at]), root_of(i), "numbers"));
      sums.front()->Progress();
      // Two of the ranks exchange a message in between.
      std::int64_t told = ranks.rank(), heard = -1;
      const int other = 1 - pairs->rank();
      if (pairs->size() < 2) continue;
      pairs->Exchange({.data = &told, .count = 1, .dtype = DType::kI64}, other,
                      {.data = &heard, .count = 1, .dtype = DType::kI64}, other, "a rank");
      if (heard / 2 != told / 2 || heard == told) throw std::runtime_error("a wrong message");
    }
    for (auto at = sums.rbegin(); at != sums.rend(); ++at) (*at)->Wait();
    traffic[static_cast<std::size_t>(ranks.rank())] = ranks.traffic();
  });
  std::int64_t sent = 0, expected = 0;
  for (const Traffic& one : traffic) sent += one.bytes;
  for (int i = 0; i < kSums; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Bytes sums = cases[at].Sums();
    expected += (root_of(i) ? 1 : 2) * (size - 1) * std::ssize(sums);
    for (int rank = 0; rank < size; ++rank) {
      if (root_of(i).value_or(rank) != rank) continue;
      INFO("sum " << i << ", rank " << rank << " of " << size);
      CHECK(results[static_cast<std::size_t>(rank)][at] == sums);
    }
  }
  CHECK(sent == expected);
}

TEST_CASE("reduce-scatter and all-gather are the halves of all-reduce", "[comm]") {
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  const Case one = RandomCase();
  const Bytes sums = one.Sums();
  std::vector<Bytes> results(static_cast<std::size_t>(one.size));
  RunRanks(kind, one.size, [&](Communicator& ranks) {
    Bytes numbers = one.NumbersOf(ranks.rank());
    ranks.ReduceScatter(BufferOf(numbers, one), "numbers");
    const CommPart part = PartOf(one.count, one.size, ranks.rank());
    const std::int64_t element = SizeOf(one.dtype);
    Bytes gathered(numbers.size(), std::byte{7});
    std::copy_n(numbers.begin() + part.begin * element, part.count * element,
                gathered.begin() + part.begin * element);
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
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  const Case one = RandomCase();
  const int root = one.size - 1;
  RunRanks(kind, one.size, [&](Communicator& ranks) {
    Bytes numbers = one.NumbersOf(ranks.rank());
    ranks.Broadcast(BufferOf(numbers, one), root, "numbers");
    if (numbers != one.NumbersOf(root)) throw std::runtime_error("other numbers");
  });
}

TEST_CASE("messages arrive in order, and neighbours may exchange at once", "[comm]") {
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  const int size = GENERATE(2, 3, 4);
  RunRanks(kind, size, [&](Communicator& ranks) {
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
  const RankKind kind = GENERATE(RankKind::kThreads, RankKind::kSharedMemory);
  RunRanks(kind, 6, [&](Communicator& ranks) {
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

}  // namespace
}  // namespace frugal::testing
