#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/fuzz/guarded_read.h"
#include "tests/fuzz/readers/packing.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using frugal::testing::Packing;

// Mutates what a gzip file unpacks to, and packs it again. Returns 0 where that is not possible.
std::size_t MutateContent(std::uint8_t* data, std::size_t size, std::size_t most) {
  constexpr std::size_t kMostContent = 1 << 14;
  const std::string_view packed(reinterpret_cast<const char*>(data), size);
  const auto content = frugal::testing::Unpack(packed, Packing::kGzip, kMostContent);
  if (!content) return 0;
  std::vector<std::uint8_t> bytes(content->begin(), content->end());
  bytes.resize(std::max<std::size_t>(2 * content->size(), 64));
  const std::size_t length = LLVMFuzzerMutate(bytes.data(), content->size(), bytes.size());
  const std::string_view mutated(reinterpret_cast<const char*>(bytes.data()), length);
  const std::string again = frugal::testing::Pack(mutated, Packing::kGzip);
  if (again.size() > most) return 0;
  std::ranges::copy(again, reinterpret_cast<char*>(data));
  return again.size();
}

}  // namespace

extern "C" {

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const frugal::testing::FileReader reader = frugal::testing::IdxFileReader();
  return frugal::testing::ReadGuarded(reader, data, size);
}

// Half of the mutations of gzip files are those of their content, which a checksum guards.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned int seed) {
  const std::size_t packed = seed % 2 == 0 ? MutateContent(data, size, most) : 0;
  return packed > 0 ? packed : LLVMFuzzerMutate(data, size, most);
}
}
