#include "sdk/tensor/tensor.h"

#include "sdk/core/error.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("a tensor shares its storage by reference count", "[tensor]") {
  HeapAllocator heap;
  {
    const Tensor a(heap, {3, 5}, DType::kF32, MemoryTag::kActivation);
    CHECK(a.size() == 15);
    CHECK(a.bytes() == 60);
    CHECK(heap.live_bytes() == 64);
    CHECK(a.IsSoleOwner());
    const Tensor b = a;  // NOLINT(performance-unnecessary-copy-initialization)
    CHECK_FALSE(a.IsSoleOwner());
    CHECK(b.SharesStorageWith(a));
    CHECK(b.raw() == a.raw());
  }
  CHECK(heap.live_bytes() == 0);
}

TEST_CASE("an empty tensor is false and holds nothing", "[tensor]") {
  const Tensor none;
  CHECK_FALSE(static_cast<bool>(none));
  CHECK(none.raw() == nullptr);
  HeapAllocator heap;
  const Tensor no_rows(heap, {0, 5}, DType::kF64, MemoryTag::kData);
  CHECK(static_cast<bool>(no_rows));  // a tensor of no elements is still one
  CHECK(no_rows.size() == 0);
  CHECK(no_rows.values<double>().empty());
}

TEST_CASE("a reshaped tensor is the same storage", "[tensor]") {
  HeapAllocator heap;
  const Tensor a(heap, {3, 4}, DType::kI64, MemoryTag::kData);
  const Tensor b = a.Reshape({2, 6});
  CHECK(b.SharesStorageWith(a));
  CHECK(b.shape() == Shape({2, 6}));
  CHECK(b.dtype() == DType::kI64);
  CHECK_THROWS_WITH(a.Reshape({5}), "[reshape] as many elements as [3, 4] has; [5]");
  CHECK_THROWS_AS(a.Reshape({5}), ShapeError);
}

}  // namespace
}  // namespace frugal
