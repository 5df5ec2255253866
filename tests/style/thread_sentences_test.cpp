// Thread safety of every public class stands in its header, behind the word "Threads:".
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

TEST_CASE("headers of public classes say what threads may do") {
  for (const char* header : {"builders/ai_model_builder.h",
                             "builders/config/layer_list.h",
                             "builders/inference/predictor.h",
                             "builders/plan/planned_training.h",
                             "builders/run/model.h",
                             "builders/run/training_observer.h",
                             "builders/training_memory_manager.h",
                             "sdk/autograd/context.h",
                             "sdk/backend/backend.h",
                             "sdk/core/registry.h",
                             "sdk/data/data_source.h",
                             "sdk/memory/allocator.h",
                             "sdk/memory/ledger.h",
                             "sdk/memory/tensor_pool.h",
                             "sdk/metrics/metric.h",
                             "sdk/metrics/metric_registry.h",
                             "sdk/module/layer.h",
                             "sdk/module/parameter_store.h",
                             "sdk/optim/optimizer.h",
                             "sdk/tensor/tensor.h"}) {
    INFO(header);
    CheckContains(ReadAll(std::string(FRUGAL_SOURCE_DIR) + "/" + header), "Threads:");
  }
}

}  // namespace
}  // namespace frugal::testing
