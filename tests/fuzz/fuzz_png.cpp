#include "tests/fuzz/guarded_read.h"
#include "tests/fuzz/readers/packing.h"

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const frugal::testing::FileReader reader = frugal::testing::PngFileReader();
  return frugal::testing::ReadGuarded(reader, data, size);
}

// Most images whose checksums do not fit their chunks are refused before anything is looked at, so
// seven of eight get the right ones.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 8 != 0) frugal::testing::MendPngChecksums(data, size);
  return size;
}
}
