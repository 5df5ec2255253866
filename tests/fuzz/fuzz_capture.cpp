#include "tests/fuzz/guarded_read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const frugal::testing::FileReader reader = frugal::testing::CaptureFileReader();
  return frugal::testing::ReadGuarded(reader, data, size);
}
