#include "sdk/core/byte_size.h"
#include "sdk/core/dtype.h"
#include "sdk/core/memory_tag.h"
#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("element types have their sizes and names", "[core]") {
  CHECK(SizeOf(DType::kF32) == 4);
  CHECK(SizeOf(DType::kF64) == 8);
  CHECK(SizeOf(DType::kBF16) == 2);
  CHECK(SizeOf(DType::kI64) == 8);
  CHECK(SizeOf(DType::kI32) == 4);
  CHECK(SizeOf(DType::kU8) == 1);
  CHECK(NameOf(DType::kF32) == "f32");
  CHECK(NameOf(DType::kBF16) == "bf16");
  CHECK(NameOf(DType::kU8) == "u8");
}

TEST_CASE("every purpose has a name, and bytes add up over all of them", "[core]") {
  BytesByTag bytes;
  std::int64_t expected = 0;
  for (const MemoryTag tag : kAllMemoryTags) {
    CHECK_FALSE(NameOf(tag).empty());
    bytes[tag] = 1 << static_cast<int>(tag);
    expected += bytes[tag];
  }
  CHECK(NameOf(MemoryTag::kOptimizerState) == "optimizer_state");
  CHECK(NameOf(MemoryTag::kData) == "data");
  CHECK(bytes.Total() == expected);
  CHECK(BytesByTag().Total() == 0);
}

TEST_CASE("counts have commas", "[core]") {
  CHECK(FormatCount(0) == "0");
  CHECK(FormatCount(999) == "999");
  CHECK(FormatCount(1000) == "1,000");
  CHECK(FormatCount(1234567) == "1,234,567");
  CHECK(FormatCount(-1234) == "-1,234");
}

TEST_CASE("bytes are told in the unit that fits", "[core]") {
  CHECK(FormatBytes(0) == "0 B");
  CHECK(FormatBytes(1023) == "1023 B");
  CHECK(FormatBytes(1024) == "1.0 KB");
  CHECK(FormatBytes(3277) == "3.2 KB");
  CHECK(FormatBytes(kBytesPerMegabyte - 1) == "1,024 KB");
  CHECK(FormatBytes(kBytesPerMegabyte) == "1.0 MB");
  CHECK(FormatBytes(1420 * kBytesPerMegabyte) == "1,420 MB");
}

}  // namespace
}  // namespace frugal
