// Models that share the pool of the process have limits of their own.
#include <optional>

#include "builders/execute/memory_stack.h"
#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

TrainingMemoryConfig WithPool(const TensorPoolOptions& options) {
  TrainingMemoryConfig memory;
  memory.tensor_pool_options = options;
  return memory;
}

Model ModelWith(const TensorPoolOptions& options) {
  SmallRun run;
  run.network = "resnet";
  run.memory = WithPool(options);
  return BuilderFor(run).Build();
}

std::int64_t IdleBytes() { return SharedTensorPool().statistics().idle_bytes; }

TEST_CASE("the last model built does not change what others leave in the pool") {
  SharedTensorPool().ReleaseIdle();
  std::optional<Model> alone = ModelWith({});
  alone.reset();
  const std::int64_t left = IdleBytes();
  REQUIRE(left > 0);
  for (const TensorPoolOptions& other :
       {TensorPoolOptions{.enabled = false}, TensorPoolOptions{.max_items_per_bucket = 1},
        TensorPoolOptions{.max_elements_to_pool = 1},
        TensorPoolOptions{.use_weak_references = true}}) {
    SharedTensorPool().ReleaseIdle();
    std::optional<Model> first = ModelWith({});
    std::optional<Model> second = ModelWith(other);
    first.reset();
    CHECK(IdleBytes() == left);
    second.reset();
    CHECK(IdleBytes() >= left);
    const Model third = ModelWith(other);
    CHECK(SharedTensorPool().statistics().reserved_bytes() >= left);
  }
}

TEST_CASE("a model keeps to its own limits, whoever is there beside it") {
  SharedTensorPool().ReleaseIdle();
  const Model wide = ModelWith({.max_pool_size_mb = 1000});
  std::optional<Model> off = ModelWith({.enabled = false});
  off.reset();
  CHECK(IdleBytes() == 0);
}

}  // namespace
}  // namespace frugal::testing
