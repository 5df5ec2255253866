#include <string>

#include "sdk/backend/backend.h"
#include "sdk/backend/eigen/array/array.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/tensors.h"

namespace frugal {
namespace {

using testing::MakeTensor;
using testing::RandomTensor;
using testing::SameBits;
using testing::Uninitialized;
using testing::Values;

Tensor Ids(const Shape& shape, const std::vector<std::int64_t>& ids) {
  return MakeTensor(shape, ids, DType::kI64);
}

Tensor RandomIds(std::int64_t count, std::int64_t rows) {
  return RandomTensor({count}, 5, DType::kI64, 0, static_cast<double>(rows));
}

TEST_CASE("eigen gather takes rows by their ids") {
  EigenArrayKernels kernels;
  const Tensor table = MakeTensor<double>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor y = Uninitialized({2, 2, 2});
  kernels.Gather(table, Ids({2, 2}, {2, 0, 2, 1}), y);
  CHECK(Values(y) == std::vector<double>{5, 6, 1, 2, 5, 6, 3, 4});
  const Tensor bytes = MakeTensor<int>({2, 1}, {7, 9}, DType::kU8);
  const Tensor one = Uninitialized({1}, DType::kU8);
  kernels.Gather(bytes, Ids({}, {1}), one);
  CHECK(testing::Value(one) == 9);
  kernels.Gather(table, Ids({0}, {}), Uninitialized({0, 2}));
  kernels.Gather(Uninitialized({0, 2}), Ids({0}, {}), Uninitialized({0, 2}));
  kernels.Gather(Uninitialized({4, 0}), Ids({1}, {3}), Uninitialized({1, 0}));
}

TEST_CASE("eigen gather and scatter name the id that no row has") {
  EigenArrayKernels kernels;
  const std::int64_t wrong = GENERATE(std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 60);
  const Tensor table = testing::Full({3, 2}, 1);
  const Tensor before = testing::Full({3, 2}, 1);
  const Tensor rows = testing::Full({4, 2}, 1);
  const Tensor ids = Ids({4}, {0, 2, wrong, 9});
  using Catch::Contains;
  const std::string value = "id " + std::to_string(wrong) + " at position 2";
  CHECK_THROWS_WITH(kernels.Gather(table, ids, rows), Contains(value) && Contains("3 rows"));
  CHECK_THROWS_AS(kernels.Gather(table, ids, rows), DataError);
  CHECK_THROWS_WITH(kernels.ScatterAdd(rows, ids, table, false, -1), Contains(value));
  CHECK(SameBits(table, before));
  CHECK_THROWS_AS(kernels.Gather(Uninitialized({0, 2}), Ids({1}, {0}), Uninitialized({1, 2})),
                  DataError);
}

TEST_CASE("eigen scatter add sums rows by their ids, in their order") {
  EigenArrayKernels kernels;
  const auto dtype = GENERATE(DType::kF32, DType::kF64);
  const bool accumulate = GENERATE(false, true);
  const std::int64_t rows = GENERATE(1, 9, 50);
  const std::int64_t width = GENERATE(1, 3, 127, 128, 200);
  const std::int64_t count = GENERATE(0, 1, 3000);
  const Tensor dy = RandomTensor({count, width}, 1, dtype);
  const Tensor ids = RandomIds(count, rows);
  const Tensor dtable =
      accumulate ? RandomTensor({rows, width}, 2, dtype) : Uninitialized({rows, width}, dtype);
  std::vector<double> expected =
      accumulate ? Values(dtable) : std::vector<double>(static_cast<std::size_t>(rows * width));
  const std::vector<double> from = Values(dy);
  const std::vector<double> id = Values(ids);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto columns = static_cast<std::size_t>(width);
    double& sum = expected[static_cast<std::size_t>(id[i / columns]) * columns + i % columns];
    sum += from[i];
    if (dtype == DType::kF32) sum = static_cast<double>(static_cast<float>(sum));  // as one by one
  }
  kernels.ScatterAdd(dy, ids, dtable, accumulate, -1);
  CHECK(Values(dtable) == expected);
}

TEST_CASE("eigen scatter add gives the same bits on any number of threads") {
  EigenArrayKernels kernels;
  const int before = ThreadCount();
  const std::int64_t width = GENERATE(37, 300);
  const Tensor dy = RandomTensor({6000, width}, 1);
  const Tensor ids = RandomIds(6000, 11);
  std::vector<Tensor> results;
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    results.push_back(Uninitialized({11, width}));
    kernels.ScatterAdd(dy, ids, results.back(), false, -1);
  }
  SetThreadCount(before);
  CHECK(SameBits(results[0], results[1]));
}

}  // namespace
}  // namespace frugal
