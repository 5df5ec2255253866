#include "sdk/backend/machine/machine_peak.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/machine/peak_loops.h"
#include "sdk/core/seconds_since.h"
#include "sdk/core/threads.h"
#include "sdk/memory/system_memory.h"
#include "sdk/tensor/tensor.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

// Results go here, so that compilers keep what makes them.
std::atomic<float> kept;
std::atomic<std::uint64_t> kept_number;

template <class Body>
double SecondsOf(const Body& body) {
  const auto start = Clock::now();
  body();
  return SecondsSince(start);
}

// Returns the least of runs for so many seconds, three at least.
template <class Body>
double LeastSeconds(double seconds, const Body& body) {
  double least = std::numeric_limits<double>::infinity();
  const auto start = Clock::now();
  for (int run = 0; run < 3 || SecondsSince(start) < seconds; ++run) {
    least = std::min(least, SecondsOf(body));
  }
  return least;
}

// Returns how many rounds take so long that what starts and ends a team of threads does not count,
// and so short that others rarely interrupt all of the runs. This thread alone finds out.
template <class Body>
std::int64_t RoundsOf(const Body& body) {
  constexpr double kSeconds = 0.001;
  std::int64_t rounds = 1000;
  while (LeastSeconds(0, [&] { body(rounds); }) < kSeconds) rounds *= 2;
  return rounds;
}

// Returns how many of so many threads can run at once.
double AtOnce(int threads) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return threads;
  return std::min(threads, CPU_COUNT(&allowed));
}

// Returns what a team of threads does a second while all of them run, the sum of the best that each
// does: where others take cores away for a while, runs of another time count.
template <class Body>
double RunsPerSecond(int threads, double seconds, const Body& body) {
  std::atomic<int> begun = 0, ended = 0, team = 1;
  std::atomic<double> sum = 0;
  RunTeam(threads, [&] {
    team = TeamSize();
    ++begun;
    while (begun < team) body();
    sum += 1 / LeastSeconds(seconds, body);
    ++ended;
    while (ended < team) body();
  });
  return sum * AtOnce(team) / team;
}

const PeakLoops& BestLoops() {
  switch (simd::BestInstructionSet()) {
    case simd::InstructionSet::kAvx512:
      return Avx512PeakLoops();
    case simd::InstructionSet::kAvx2:
      return Avx2PeakLoops();
    default:
      return BaselinePeakLoops();
  }
}

ChainLoop LoopOf(ProductInstruction instruction) {
  switch (instruction) {
    case ProductInstruction::kSse:
      return BaselinePeakLoops().multiply_and_add;
    case ProductInstruction::kAvx2Fma:
      return Avx2PeakLoops().multiply_and_add;
    case ProductInstruction::kAvx512Fma:
      return Avx512PeakLoops().multiply_and_add;
    case ProductInstruction::kBf16Dot:
      return Bf16DotLoop();
    default:
      return Bf16TileLoop();
  }
}

void RunStream(MemoryStream stream, const float* from, float* to, std::int64_t count) {
  const PeakLoops& loops = BestLoops();
  if (stream == MemoryStream::kCopy) return loops.copy(from, to, count);
  if (stream == MemoryStream::kStreamingCopy) return loops.streaming_copy(from, to, count);
  kept = loops.read(from, count);
}

}  // namespace

std::string_view NameOf(ProductInstruction instruction) {
  constexpr std::string_view kNames[] = {"multiply and add, SSE", "FMA, AVX2", "FMA, AVX-512",
                                         "dot, AVX-512 BF16", "tile product, AMX"};
  return kNames[static_cast<std::size_t>(instruction)];
}

std::string_view NameOf(MemoryStream stream) {
  constexpr std::string_view kNames[] = {"copy", "streaming copy", "read"};
  return kNames[static_cast<std::size_t>(stream)];
}

DType FactorsOf(ProductInstruction instruction) {
  return instruction >= ProductInstruction::kBf16Dot ? DType::kBF16 : DType::kF32;
}

bool HasInstruction(ProductInstruction instruction) {
  switch (instruction) {
    case ProductInstruction::kSse:
      return simd::BestInstructionSet() == simd::InstructionSet::kBaseline;
    case ProductInstruction::kAvx2Fma:
      return simd::BestInstructionSet() >= simd::InstructionSet::kAvx2;
    case ProductInstruction::kAvx512Fma:
      return simd::BestInstructionSet() >= simd::InstructionSet::kAvx512;
    case ProductInstruction::kBf16Dot:
      return simd::HasAvx512Bf16();
    default:
      return simd::HasAmxBf16();
  }
}

double MeasurePeak(ProductInstruction instruction, int threads, double seconds) {
  if (!HasInstruction(instruction)) return 0;
  const ChainLoop loop = LoopOf(instruction);
  const MostThreadsScope most(threads);
  const std::int64_t rounds = RoundsOf([&](std::int64_t tried) { kept = loop.run(tried); });
  const double runs = RunsPerSecond(threads, seconds, [&] { kept = loop.run(rounds); });
  return loop.flops * static_cast<double>(rounds) * runs;
}

double MeasureProductPeak(DType dtype, double seconds) {
  double best = 0;
  for (const ProductInstruction instruction : kProductInstructions) {
    if (FactorsOf(instruction) != dtype) continue;
    best = std::max(best, MeasurePeak(instruction, ThreadCount(), seconds));
  }
  return best;
}

double MeasureStream(MemoryStream stream, int threads, std::int64_t bytes, double seconds) {
  constexpr std::int64_t kPiece = 1024;  // numbers
  const MostThreadsScope most(threads);
  const std::int64_t pieces =
      std::max<std::int64_t>(threads, bytes / SizeOf(DType::kF32) / kPiece) / threads;
  const std::int64_t each = pieces * kPiece;  // of a thread
  HeapAllocator heap;
  const Shape shape{threads * each};
  const Tensor from(heap, shape, DType::kF32, MemoryTag::kWorkspace);
  const Tensor to(heap, shape, DType::kF32, MemoryTag::kWorkspace);
  // Threads take their pieces of memory from where they run.
  ParallelFor(threads, 1, [&](std::int64_t begin, std::int64_t end) {
    std::fill(from.data<float>() + begin * each, from.data<float>() + end * each, 0.75F);
    std::fill(to.data<float>() + begin * each, to.data<float>() + end * each, 0.75F);
  });
  const double run = LeastSeconds(seconds, [&] {
    ParallelFor(threads, 1, [&](std::int64_t begin, std::int64_t end) {
      RunStream(stream, from.data<float>() + begin * each, to.data<float>() + begin * each,
                (end - begin) * each);
    });
  });
  const auto moved = static_cast<double>(from.bytes());
  return (stream == MemoryStream::kRead ? moved : 2 * moved) / run;
}

double MeasureClock(double seconds) {
  const auto run = [](std::int64_t products) {
    kept_number = BaselinePeakLoops().multiply_in_turn(products);
  };
  const std::int64_t products = RoundsOf(run);
  const double cycles = kProductCycles * static_cast<double>(products);
  return cycles / LeastSeconds(seconds, [&] { run(products); });
}

}  // namespace frugal
