#include "builders/training_memory/memory_estimate.h"

#include <algorithm>

#include "builders/dry_run/saved_bytes.h"
#include "builders/setup/dry_environment.h"
#include "sdk/core/error.h"
#include "sdk/memory/recording.h"

namespace frugal {
namespace {

std::int64_t Saved(std::int64_t without, std::int64_t with) {
  return std::max<std::int64_t>(0, without - with);
}

double Fraction(std::int64_t saved, std::int64_t of) {
  return of == 0 ? 0 : static_cast<double>(saved) / static_cast<double>(of);
}

[[noreturn]] void ThrowTooLarge(const std::string& what) {
  throw UsageError({.where = "EstimateMemory",
                    .required = "an estimate fits 64 bits",
                    .given = what + " does not",
                    .advice = "give the bytes of one layer's output"});
}

std::int64_t Product(std::int64_t layers, std::int64_t bytes) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(layers, bytes, &product)) return product;
  ThrowTooLarge(std::to_string(layers) + " layers of " + std::to_string(bytes) + " bytes");
}

std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  ThrowTooLarge(std::to_string(a) + " and " + std::to_string(b) + " bytes");
}

void CheckNotNegative(const std::string& what, std::int64_t value) {
  if (value >= 0) return;
  throw UsageError({.where = "EstimateMemory",
                    .required = what + " is not negative",
                    .given = std::to_string(value) + " was given",
                    .advice = "count from 0"});
}

DryEnvironment EnvironmentOf(const DryPass& dry) { return DryEnvironment(dry.backend, dry.dtype); }

Tensor DryCopy(Context& context, const Tensor& tensor) {
  return context.Allocate(tensor.shape(), tensor.dtype(), MemoryTag::kData);
}

std::int64_t StillLive(const MemoryTrace& trace) {
  std::int64_t bytes = 0;
  for (const Lifetime& life : trace.lifetimes()) bytes += life.end == kStillLive ? life.bytes : 0;
  return bytes;
}

std::int64_t PeakOf(const MemoryTrace& trace, const LabelTable& labels) {
  const MemoryTimeline timeline = TimelineOf(trace, labels);
  return timeline.live.empty() ? 0 : timeline.live[timeline.peak_event].Total();
}

// Parameters, their gradients and the output's gradient are there from a first pass on, so the
// second takes nothing but what is its own.
MemoryEstimate MeasureChain(const DryPass& dry, const LayerChain& chain, PassBytes& bytes) {
  DryEnvironment environment = EnvironmentOf(dry);
  Context& context = environment.context();
  context.set_training(dry.training);
  const Tensor input = DryCopy(context, dry.inputs.at(0).value);
  LayerPass first;
  const Tensor first_output = RunForward(context, chain, {{input}}, first);
  const Tensor gradient = context.Allocate(first_output.shape(), first_output.dtype());
  RunBackward(context, gradient, first);
  MemoryTrace trace;
  {
    const RecordingScope recording(environment.ledger(), trace);
    LayerPass second;
    const Tensor output = RunForward(context, chain, {{input}}, second);
    bytes.kept = StillLive(trace);
    RunBackward(context, gradient, second);
  }
  bytes.peak = PeakOf(trace, environment.ledger().labels());
  const BytesByTag live = environment.ledger().live();
  return {.parameter_bytes = live[MemoryTag::kParameter],
          .gradient_bytes = live[MemoryTag::kGradient]};
}

}  // namespace

std::int64_t MemoryEstimate::SavedBytes() const {
  return Saved(without_checkpointing.peak, with_checkpointing.peak);
}
double MemoryEstimate::SavedFraction() const {
  return Fraction(SavedBytes(), without_checkpointing.peak);
}

std::int64_t ActivationEstimate::SavedBytes() const {
  return Saved(without_checkpointing, with_checkpointing);
}
double ActivationEstimate::SavedFraction() const {
  return Fraction(SavedBytes(), without_checkpointing);
}

ActivationEstimate EstimateActivations(std::int64_t layers, std::int64_t every_n,
                                       std::int64_t bytes) {
  CheckNotNegative("the number of layers", layers);
  CheckNotNegative("the size of an activation", bytes);
  if (bytes == 0) return {};
  const std::int64_t segments = layers / every_n + (layers % every_n != 0 ? 1 : 0);
  const std::int64_t without = Product(layers, bytes);
  // Each of the two is at most n, so that their products fit where n A does.
  const std::int64_t inputs = Product(segments, bytes);
  return {without, Sum(inputs, Product(std::min(every_n, layers), bytes))};
}

MemoryEstimate EstimatePass(const DryPass& dry, const LayerChain& plain,
                            const LayerChain& checkpointed) {
  PassBytes without;
  PassBytes with;
  MeasureChain(dry, plain, without);
  MemoryEstimate estimate = MeasureChain(dry, checkpointed, with);
  estimate.without_checkpointing = without;
  estimate.with_checkpointing = with;
  return estimate;
}

SavedBytes MeasureSavedBytes(const DryPass& dry, const LayerPointers& layers) {
  DryEnvironment environment = EnvironmentOf(dry);
  Context& context = environment.context();
  context.set_training(dry.training);
  MemoryTrace trace;
  const RecordingScope recording(environment.ledger(), trace);
  Tape tape;
  const TapeScope scope(context, &tape);
  {
    VarTuple vars = dry.inputs;
    for (Var& one : vars) {
      one.value = DryCopy(context, one.value);
      one.slot = one.needs_gradient() ? tape.NewSlot() : Var::kNoGradient;
      one = InActivationType(context, one);
    }
    RunChain(context, {layers, {}}, vars);
  }
  return SavedBytesIn(trace, environment.ledger().labels());
}

}  // namespace frugal
