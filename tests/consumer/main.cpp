// A program outside of this repository: what it needs comes from find_package(frugal) alone.
#include <cstdio>

#include "builders/frugal.h"

int main() {
  const frugal::Shape shape{32, 28, 28, 1};
  const auto bytes = shape.ElementCount() * frugal::SizeOf(frugal::DType::kF32);
  std::printf("%s: %s\n", frugal::ToString(shape).c_str(), frugal::FormatBytes(bytes).c_str());
  return bytes == 100352 ? 0 : 1;
}
