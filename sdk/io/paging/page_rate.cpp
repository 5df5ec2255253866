#include "sdk/io/paging/page_rate.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "sdk/core/seconds_since.h"
#include "sdk/core/threads.h"
#include "sdk/io/paging/page_copy.h"
#include "sdk/io/paging/page_file.h"

namespace frugal {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::int64_t kPieces = 48;

using Clock = std::chrono::steady_clock;

// work(offset) for each piece of a file
template <class Work>
void ForPieces(const Work& work) {
  for (std::int64_t i = 0; i < kPieces; ++i) work(i * std::int64_t{kPieceBytes});
}

// Returns the bytes of a second in which `work` is called for each piece.
template <class Work>
double RateOf(const Work& work) {
  const auto begin = Clock::now();
  ForPieces(work);
  return static_cast<double>(kPieces) * kPieceBytes / SecondsSince(begin);
}

// Returns the median of the seconds of work(i) for so many i.
template <class Work>
double MedianSeconds(std::int64_t times, const Work& work) {
  std::vector<double> seconds(static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    work(i);
    seconds[static_cast<std::size_t>(i)] = SecondsSince(begin);
  }
  const auto middle = seconds.begin() + times / 2;
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

// Computes on all threads that kernels have, a fraction of a millisecond, and waits for the last.
void RunKernel() {
  static std::atomic<float> sum = 0;  // Without it nothing would need the numbers.
  RunTeam(0, [] {
    std::array<float, 64> numbers{};
    for (int i = 0; i < 30000; ++i) {
      for (float& number : numbers) number = number * 0.5f + 1.0f;
    }
    sum.store(std::accumulate(numbers.begin(), numbers.end(), 0.0f), std::memory_order_relaxed);
  });
}

// Returns by how much kernels fall behind while a thread writes and reads all pieces, per byte.
double MeasureDelay(PageFile& file, std::span<std::byte> bytes) {
  const auto kernel_seconds = [] { return MedianSeconds(41, [](std::int64_t) { RunKernel(); }); };
  const double before = kernel_seconds();
  std::atomic<bool> is_over = false;
  std::exception_ptr failure;
  const auto begin = Clock::now();
  std::thread disk([&] {
    try {
      ForPieces([&](std::int64_t offset) { file.Write(offset, bytes); });
      ForPieces([&](std::int64_t offset) { file.Read(offset, bytes); });
    } catch (...) {
      failure = std::current_exception();
    }
    is_over = true;
  });
  std::int64_t kernels = 0;
  for (; !is_over; ++kernels) RunKernel();
  const double taken = SecondsSince(begin);
  disk.join();
  if (failure) std::rethrow_exception(failure);
  const double alone = std::min(before, kernel_seconds());
  const double behind = taken - static_cast<double>(kernels) * alone;
  return std::max(0.0, behind) / (2.0 * static_cast<double>(kPieces) * kPieceBytes);
}

PageRate Measure(const std::string& path) {
  constexpr auto kAligned = static_cast<std::align_val_t>(kDirectBlock);
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, kAligned); }
  };
  const std::unique_ptr<std::byte[], Free> piece(new (kAligned) std::byte[kPieceBytes]());
  const std::span bytes(piece.get(), kPieceBytes);
  PageFile file(path, kPieces * std::int64_t{kPieceBytes});
  PageRate rate;
  rate.write = RateOf([&](std::int64_t offset) { file.Write(offset, bytes); });
  rate.read = RateOf([&](std::int64_t offset) { file.Read(offset, bytes); });
  rate.delay = MeasureDelay(file, bytes);
  // They are more than the first caches hold, as the tensors of a step are.
  std::vector<std::byte> tensors(kPieces * kPieceBytes, std::byte{1});
  rate.copy = kPieceBytes / MedianSeconds(kPieces, [&](std::int64_t i) {
                CopyPage(piece.get(), tensors.data() + i * std::int64_t{kPieceBytes}, kPieceBytes);
              });
  return rate;
}

}  // namespace

PageRate PageRateAt(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, PageRate> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(path);
  return found != known.end() ? found->second : known[path] = Measure(path);
}

}  // namespace frugal
