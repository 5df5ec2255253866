// Attention keeps no score matrix: what a training pass takes grows with the length of a sequence,
// not with its square.
#include "layers/attention.h"
#include "sdk/memory/arena_layout.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kFeatures = 64;

// Returns the peak of the step's own memory: activations and workspace, weights and their gradients
// left out.
std::int64_t PeakOf(BackendKind backend, const AttentionLayerOptions& options,
                    std::int64_t length) {
  TestEnvironment environment({backend, DType::kF32, true});
  const auto layer = Ready(std::make_unique<AttentionLayer>(kFeatures, options));
  const Tensor input = Uninitialized({1, length, kFeatures});
  MemoryTrace trace;
  environment.ledger().RecordInto(&trace);
  {
    Tape tape;
    const TapeScope scope(environment.context(), &tape);
    Var output = (*layer)(environment.context(), {input, tape.NewSlot()});
    const int slot = output.slot;
    Tensor seed = environment.context().Allocate(output.shape(), output.dtype());
    output = Var();
    tape.Backward(environment.context(), slot, std::move(seed));
  }
  environment.ledger().RecordInto(nullptr);
  return PlaceInArena(trace).lower_bound_bytes;
}

TEST_CASE("memory of attention grows linearly with the length of a sequence") {
  const AttentionLayerOptions plain{.heads = 4};
  const AttentionLayerOptions causal{.heads = 4, .causal = true, .rotary_base = 10000};
  const AttentionLayerOptions grouped{.heads = 4, .key_heads = 1, .causal = true, .fused = false};
  for (const BackendKind backend : {BackendKind::kEigen, BackendKind::kOneDnn}) {
    for (const AttentionLayerOptions& options : {plain, causal, grouped}) {
      std::int64_t before = PeakOf(backend, options, 256);
      for (const std::int64_t length : {512, 1024, 2048, 4096}) {
        INFO(NameOf(backend) << ", length " << length);
        const std::int64_t peak = PeakOf(backend, options, length);
        const double ratio = static_cast<double>(peak) / static_cast<double>(before);
        CHECK(ratio < 2.05);
        CHECK(ratio > 1);
        // At least x and what is made of it; less than the scores of one head.
        CHECK(peak > length * kFeatures * 4);
        if (length == 4096) CHECK(peak < length * length * 4);
        before = peak;
      }
    }
  }
}

}  // namespace
}  // namespace frugal::testing
