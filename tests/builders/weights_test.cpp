#include "builders/execute/weights.h"

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

std::string Refusal(const TempDir& directory, const NamedBytes& weight, bool allow_missing) {
  Parameter parameter{.name = "w", .path = "net.w", .aliases = {}, .shape = {2}, .initializer = {}};
  Parameter* const parameters[] = {&parameter};
  const NamedBytes counter =
      Named("net.num_batches_tracked", {}, StoredDType::kI64, std::vector<std::int64_t>{7});
  WriteWeights(directory.File("w"), WeightsFileFormat::kSafetensors, {weight, counter});
  return MessageOf<WeightFileError>([&] {
    OpenModelWeights(directory.File("w"), WeightsFormat::kAuto, parameters, allow_missing);
  });
}

TEST_CASE("whole numbers under a weight's name are no weights") {
  const TempDir directory;
  const bool allow_missing = GENERATE(false, true);
  const auto refusal = [&](StoredDType dtype, auto value) {
    return Refusal(directory, Named("net.w", {2}, dtype, std::vector(2, value)), allow_missing);
  };
  CheckContains(refusal(StoredDType::kI32, std::int32_t{1}),
                "weights are F64, F32, F16 or BF16; 1 of whole numbers: net.w is I32");
  CheckContains(refusal(StoredDType::kI8, std::int8_t{1}), "net.w is I8");
  CheckContains(refusal(StoredDType::kI64, std::int64_t{1}), "net.w is I64");
  CheckContains(refusal(StoredDType::kBool, std::uint8_t{1}), "net.w is BOOL");
  CHECK(refusal(StoredDType::kF32, 1.0F) == "no error");
  CHECK(refusal(StoredDType::kF64, 1.0) == "no error");
  CHECK(refusal(StoredDType::kF16, std::uint16_t{0}) == "no error");
  CHECK(refusal(StoredDType::kBF16, std::uint16_t{0}) == "no error");
}

}  // namespace
}  // namespace frugal::testing
