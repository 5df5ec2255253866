#include "sdk/io/paging/page_rate.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "sdk/io/paging/page_copy.h"
#include "sdk/io/paging/page_file.h"

namespace frugal {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::int64_t kPieces = 48;

// Calls `work` for each piece of a file, and returns the bytes of a second.
template <class Work>
double RateOf(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < kPieces; ++i) work(i * std::int64_t{kPieceBytes});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(kPieces) * kPieceBytes / took.count();
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
  // They are more than the first caches hold, as the tensors of a step are.
  std::vector<std::byte> tensors(kPieces * kPieceBytes, std::byte{1});
  rate.copy = RateOf([&](std::int64_t offset) {
    CopyPage(piece.get(), tensors.data() + offset, std::int64_t{kPieceBytes});
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
