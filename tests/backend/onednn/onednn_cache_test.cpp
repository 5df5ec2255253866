#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/operation/operation_cache.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::onednn;

namespace {

LinearDescription Product(std::int64_t rows) {
  LinearDescription d;
  d.rows = rows;
  d.inputs = d.outputs = 8;
  return d;
}

}  // namespace

TEST_CASE("the operation cache finds what it has and stays within its capacity") {
  OperationCache cache(ChooseOperation, 4);
  Operation* const first = cache.Find(Product(1));
  REQUIRE(first != nullptr);
  CHECK(cache.Find(Product(1)) == first);
  CHECK(cache.size() == 1);
  for (std::int64_t rows = 2; rows < 40; ++rows) {
    cache.Find(Product(rows));
    CHECK(cache.Find(Product(1)) == first);  // in use, therefore kept
    CHECK(cache.size() <= 4);
  }
  CHECK(OperationCache(ChooseOperation, 0).capacity() == 1);
}

TEST_CASE("the operation cache tells descriptions and thread counts apart") {
  OperationCache cache(ChooseOperation);
  LinearDescription d = Product(5);
  cache.Find(d);
  d.bias = true;
  cache.Find(d);
  d.epilogue.activation = Activation::kElu;
  cache.Find(d);
  d.epilogue.parameter = 2;
  cache.Find(d);
  ConvDescription conv;
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeight}) {
    conv.pass = pass;
    cache.Find(conv);
  }
  CHECK(cache.size() == 7);
  const int threads = ThreadCount();
  SetThreadCount(threads + 1);
  cache.Find(d);
  SetThreadCount(threads);
  CHECK(cache.size() == 8);
}

TEST_CASE("an evicted operation is made again and gives the same bits") {
  OperationCache cache(ChooseOperation, 1);
  const Tensor x = testing::RandomTensor({5, 8}, 1), w = testing::RandomTensor({8, 8}, 2);
  Tensor y = testing::Full({5, 8}, NAN);
  const auto run = [&] {
    Operation* operation = cache.Find(Product(5));
    const testing::Scratch scratch(operation->ScratchBytes());
    operation->Run(
        {{Slot::kSource, x.raw()}, {Slot::kWeight, w.raw()}, {Slot::kDestination, y.raw()}},
        scratch.get());
  };
  run();
  const Tensor first = testing::Clone(y);
  cache.Find(Product(6));
  run();
  CHECK(testing::SameBits(y, first));
}

TEST_CASE("what oneDNN cannot do is no operation") {
  OperationCache cache(ChooseOperation);
  CHECK(cache.Find(Product(-1)) == nullptr);
  CHECK(cache.size() == 1);
}
