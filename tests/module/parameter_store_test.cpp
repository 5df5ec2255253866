#include "sdk/module/parameter_store.h"

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

Parameter MakeParameter(std::size_t index = 0) {
  Parameter parameter;
  parameter.name = "weight";
  parameter.path = "fc.weight" + std::to_string(index);
  parameter.shape = {4, 3};
  parameter.initializer = Initializer::HeNormal();
  parameter.index = index;
  return parameter;
}

TEST_CASE("counting, naming and walking a model touch no storage", "[module][lazy]") {
  TestEnvironment environment(kReferenceF32);
  const auto network = Ready(MakeSmallNetwork());
  CHECK(network->ParameterCount() == 1991);
  network->Describe();
  std::int64_t elements = 0;
  for (const Parameter* parameter : network->Parameters()) {
    CHECK_FALSE(environment.store().IsMaterialized(*parameter));
    CHECK_FALSE(environment.store().Gradient(*parameter));
    elements += parameter->shape.ElementCount();
  }
  CHECK(elements > 1991);  // with the running statistics
  CHECK(environment.ledger().live_total() == 0);
  CHECK(environment.heap().allocation_count() == 0);
}

TEST_CASE("a value is made when it is first touched, once", "[module][lazy]") {
  TestEnvironment environment(kReferenceF64);
  const Parameter parameter = MakeParameter();
  const Tensor value = environment.store().Value(parameter);
  CHECK(environment.store().IsMaterialized(parameter));
  CHECK(environment.ledger().live()[MemoryTag::kParameter] == 128);  // 96, rounded up
  CHECK(environment.store().Value(parameter).SharesStorageWith(value));
  CHECK(environment.ledger().LargestHolders()[0].label == parameter.path);
  const Tensor expected = Uninitialized({4, 3}, DType::kF64);
  Initialize(parameter.initializer, 7, parameter.path, expected);
  CHECK(SameBits(value, expected));
}

TEST_CASE("parameters without a path, and two of one number, are refused", "[module]") {
  TestEnvironment environment(kReferenceF64);
  const Parameter first = MakeParameter(1);
  const Parameter copy = MakeParameter(1);
  Parameter second = MakeParameter(1);
  second.path = "fc.other";
  Parameter wider = MakeParameter(1);
  wider.shape = {4, 4};
  Parameter unnamed = MakeParameter(2);
  unnamed.path.clear();
  CHECK_THROWS_WITH(environment.store().Value(unnamed),
                    Catch::Contains("this one was never named"));
  const Tensor value = environment.store().Value(first);
  CHECK(environment.store().Value(copy).SharesStorageWith(value));
  CHECK_THROWS_WITH(environment.store().Value(second),
                    Catch::Contains("number 1 is that of fc.weight1 [4, 3] already"));
  CHECK_THROWS_AS(environment.store().Value(wider), UsageError);
  CHECK_THROWS_AS(environment.store().GradientFor(second), UsageError);
}

TEST_CASE("the order of first touches changes no bit", "[module][lazy]") {
  const std::vector<Parameter> parameters = {MakeParameter(0), MakeParameter(1), MakeParameter(2)};
  TestEnvironment forward(kReferenceF32);
  TestEnvironment backward(kReferenceF32);
  for (std::size_t i = 3; i-- > 0;) backward.store().Value(parameters[i]);
  for (const Parameter& parameter : parameters) {
    CHECK(SameBits(forward.store().Value(parameter), backward.store().Value(parameter)));
  }
  CHECK_FALSE(SameBits(forward.store().Value(parameters[0]), forward.store().Value(parameters[1])));
}

TEST_CASE("a gradient's first contribution overwrites and the next ones add",
          "[module][gradient]") {
  TestEnvironment environment(kReferenceF64);
  const Parameter parameter = MakeParameter();
  ParameterStore& store = environment.store();
  CHECK_FALSE(store.Gradient(parameter));
  const GradientTarget first = store.GradientFor(parameter);
  CHECK_FALSE(first.accumulate);
  const GradientTarget second = store.GradientFor(parameter);
  CHECK(second.accumulate);
  CHECK(second.tensor.SharesStorageWith(first.tensor));
  CHECK(store.Gradient(parameter).SharesStorageWith(first.tensor));
  store.ClearGradients();
  CHECK_FALSE(store.Gradient(parameter));
  const GradientTarget next_step = store.GradientFor(parameter);
  CHECK_FALSE(next_step.accumulate);
  CHECK(next_step.tensor.SharesStorageWith(first.tensor));  // kept, not taken anew
  CHECK(environment.ledger().live()[MemoryTag::kGradient] == 128);
  CHECK_FALSE(store.IsMaterialized(parameter));
}

TEST_CASE("optimizer state starts at zero", "[module]") {
  TestEnvironment environment(kReferenceF64);
  const Parameter parameter = MakeParameter();
  CHECK_FALSE(environment.store().HasState(parameter, 0));
  const Tensor state = environment.store().State(parameter, 1, environment.backend());
  CHECK(Values(state) == std::vector<double>(12, 0.0));
  CHECK(environment.store().HasState(parameter, 1));
  CHECK_FALSE(environment.store().HasState(parameter, 0));
  CHECK(environment.ledger().live()[MemoryTag::kOptimizerState] == 128);
}

TEST_CASE("a source fills what it knows and leaves the rest to initialization", "[module]") {
  TestEnvironment environment(kReferenceF64);
  TestEnvironment plain(kReferenceF64);
  const Parameter known = MakeParameter(0);
  const Parameter unknown = MakeParameter(1);
  environment.store().SetSource([&](const Parameter& parameter, const Tensor& value) {
    if (parameter.path != known.path) return false;
    for (double& element : value.values<double>()) element = 5;
    return true;
  });
  CHECK(Values(environment.store().Value(known)) == std::vector<double>(12, 5.0));
  CHECK(SameBits(environment.store().Value(unknown), plain.store().Value(unknown)));
}

TEST_CASE("a source that fails leaves nothing behind", "[module]") {
  TestEnvironment environment(kReferenceF64);
  const Parameter parameter = MakeParameter();
  environment.store().SetSource(
      [](const Parameter&, const Tensor&) -> bool { throw WeightFileError("unreadable"); });
  CHECK_THROWS_AS(environment.store().Value(parameter), WeightFileError);
  CHECK_FALSE(environment.store().IsMaterialized(parameter));
  CHECK(environment.ledger().live_total() == 0);
}

TEST_CASE("starting at zero spares buffers", "[module]") {
  TestEnvironment environment(kReferenceF64);
  MemoryLedger& ledger = environment.ledger();
  TrackedAllocator memory(ledger, environment.heap(), false);
  ParameterStore store(memory, ledger, {.dtype = DType::kF64, .start_at_zero = true});
  Parameter weight = MakeParameter(0);
  Parameter buffer = MakeParameter(1);
  buffer.initializer = Initializer::Constant(1);
  buffer.is_buffer = true;
  CHECK(Values(store.Value(weight)) == std::vector<double>(12, 0.0));
  CHECK(Values(store.Value(buffer)) == std::vector<double>(12, 1.0));
}

TEST_CASE("a refused value leaves the ledger's label as it was", "[module]") {
  TestEnvironment environment(kReferenceF64);
  MemoryLedger& ledger = environment.ledger();
  ledger.SetLimit({.bytes = 64, .hard = true, .name = "limit"});
  const LabelTable::Id before = ledger.label();
  CHECK_THROWS_AS(environment.store().Value(MakeParameter()), MemoryError);
  CHECK(ledger.label() == before);
}

}  // namespace
}  // namespace frugal::testing
