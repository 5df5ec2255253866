#include "sdk/module/network_input.h"

#include "layers/architectures/unet/unet_condition.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/tensors.h"
#include "tests/support/test_environment.h"

namespace frugal::testing {
namespace {

using testing::CheckContains;
using testing::MessageOf;

NetworkInputs Inputs() {
  return {{.name = "x",
           .role = InputRole::kSample,
           .shape = {8, 8, 4},
           .free_axes = {0, 1},
           .multiples = {2, 4}},
          {.name = "t", .role = InputRole::kTime},
          {.name = "context", .role = InputRole::kValues, .shape = {77, 16}, .free_axes = {0}},
          {.name = "y", .role = InputRole::kLabel, .classes = 10},
          {.name = "words", .role = InputRole::kTokens, .shape = {3}, .classes = 50}};
}

VarTuple Fitting(std::int64_t batch = 2) {
  return {{Uninitialized({batch, 6, 12, 4})},
          {Uninitialized({batch})},
          {Uninitialized({batch, 5, 16})},
          {Uninitialized({batch}, DType::kI64)},
          {Uninitialized({batch, 3}, DType::kI64)}};
}

std::string Refusal(const VarTuple& vars, const std::string& where = "unet") {
  return MessageOf<ShapeError>([&] { CheckInputs(where, Inputs(), vars); });
}

std::string With(std::size_t i, const Tensor& tensor) {
  VarTuple vars = Fitting();
  vars[i] = {tensor};
  return Refusal(vars);
}

TEST_CASE("inputs that fit are taken") {
  CHECK(Refusal(Fitting()) == "no error");
  CHECK(Refusal(Fitting(1)) == "no error");
}

TEST_CASE("an input too few or too many is named or counted") {
  VarTuple vars = Fitting();
  vars.pop_back();
  CHECK(Refusal(vars) ==
        "[unet] the network takes 5 inputs (x, t, context, y, words); 4; 'words' is missing; give "
        "all of them, in this order");
  vars.resize(1);
  CheckContains(Refusal(vars), "1; 't' is missing");
  CheckContains(Refusal({}), "0; 'x' is missing");
  vars = Fitting();
  vars.push_back(vars[0]);
  CheckContains(Refusal(vars), "6 were given");
  CheckContains(Refusal({}, ""), "[model]");
}

TEST_CASE("an input of the wrong shape is named, with what it was and what is taken") {
  CHECK(With(2, Uninitialized({2, 5, 12})) ==
        "[unet] input 'context' is [N, any, 16] with N = 2; [2, 5, 12]; change the data, or the "
        "model's sizes");
  CheckContains(With(0, Uninitialized({2, 6, 12, 3})),
                "input 'x' is [N, a multiple of 2, a multiple of 4, 4] with N = 2; [2, 6, 12, 3]");
  CheckContains(With(0, Uninitialized({2, 6, 12})), "input 'x'");
  CheckContains(With(0, Uninitialized({2, 6, 12, 4, 1})), "input 'x'");
  CheckContains(With(1, Uninitialized({2, 1})), "input 't' is [N] with N = 2; [2, 1]");
  CheckContains(With(1, Uninitialized({3})), "input 't' is [N] with N = 2; [3]");
  CheckContains(With(4, Uninitialized({2, 4}, DType::kI64)), "input 'words' is [N, 3]");
  CheckContains(With(2, Uninitialized({2, 0, 16})), "input 'context' is [N, any, 16]");
}

TEST_CASE("extents that the patches or stages do not divide are refused") {
  CheckContains(With(0, Uninitialized({2, 7, 12, 4})), "a multiple of 2");
  CheckContains(With(0, Uninitialized({2, 6, 10, 4})), "[2, 6, 10, 4]");
  CheckContains(With(0, Uninitialized({2, 0, 12, 4})), "[2, 0, 12, 4]");
}

TEST_CASE("an input of the wrong type is named") {
  CheckContains(With(3, Uninitialized({2})),
                "input 'y' takes class numbers of type i64; f32 [2]; give labels");
  CheckContains(With(4, Uninitialized({2, 3})), "input 'words' takes");
  CheckContains(With(2, Uninitialized({2, 5, 16}, DType::kI64)),
                "input 'context' takes values; i64 [2, 5, 16]; give real numbers");
  CheckContains(With(1, Uninitialized({2}, DType::kI64)), "input 't' takes values");
}

TEST_CASE("scalars without a batch are refused") {
  VarTuple vars = Fitting();
  vars[0] = {Uninitialized({})};
  CheckContains(Refusal(vars), "input 'x'");
}

TEST_CASE("types and batches of inputs") {
  const NetworkInputs inputs = Inputs();
  CHECK(TypeOf(inputs[0], DType::kBF16) == DType::kBF16);
  CHECK(TypeOf(inputs[1], DType::kBF16) == DType::kF32);
  CHECK(TypeOf(inputs[1], DType::kF64) == DType::kF64);
  CHECK(TypeOf(inputs[2], DType::kF32) == DType::kF32);
  CHECK(TypeOf(inputs[3], DType::kF64) == DType::kI64);
  CHECK(TypeOf({.name = "ids", .role = InputRole::kNumbers}, DType::kBF16) == DType::kF32);
  CHECK(BatchShape(inputs[2], 3) == Shape{3, 77, 16});
  CHECK(BatchShape(inputs[1], 3) == Shape{3});
}

// The U-Net with a text, planned for one size and asked with others.
std::string NetworkRefusal(const Shape& x, std::int64_t width) {
  UNetConditionConfig config;
  config.sample_size = 8;
  config.block_out_channels = {32, 32};
  config.down_block_types = {"CrossAttnDownBlock2D", "DownBlock2D"};
  config.up_block_types = {"UpBlock2D", "CrossAttnUpBlock2D"};
  config.layers_per_block = {1};
  config.cross_attention_dim = {16};
  TestEnvironment environment({.dtype = DType::kF32, .dry = true});
  const auto network = MakeUNetCondition(config);
  network->AssignPaths("unet");
  NumberParameters(*network);
  VarTuple vars = {{environment.context().Allocate(x, DType::kF32)},
                   {environment.context().Allocate({2}, DType::kF32)},
                   {environment.context().Allocate({2, 5, width}, DType::kF32)}};
  return MessageOf<ShapeError>([&] { (*network)(environment.context(), vars); });
}

TEST_CASE("a network names the input that does not fit before it runs") {
  CHECK(NetworkRefusal({2, 8, 8, 4}, 16) == "no error");
  CHECK(NetworkRefusal({2, 12, 6, 4}, 16) == "no error");
  CheckContains(NetworkRefusal({2, 7, 8, 4}, 16), "a multiple of 2");
  CheckContains(NetworkRefusal({2, 8, 8, 4}, 24), "input 'context' is [N, any, 16]");
}

}  // namespace
}  // namespace frugal::testing
