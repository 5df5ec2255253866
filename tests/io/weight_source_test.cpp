#include "sdk/io/weights/weight_source.h"

#include <bit>
#include <cmath>
#include <limits>

#include "sdk/core/bfloat16.h"
#include "sdk/core/error.h"
#include "sdk/core/half.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

std::unique_ptr<WeightSource> Stored(const TempDir& directory, const NamedBytes& weight) {
  WriteWeights(directory.File("w"), WeightsFileFormat::kSafetensors, {weight});
  return OpenWeights(directory.File("w"));
}

template <class T>
void CheckRead(const std::vector<T>& values, StoredDType dtype,
               const std::vector<double>& expected) {
  const TempDir directory;
  const std::int64_t count = std::ssize(values);
  const auto source = Stored(directory, Named<T>("w", {count}, dtype, values));
  std::vector<float> f32(values.size());
  std::vector<double> f64(values.size());
  source->ReadAsF32("w", f32);
  source->ReadAsF64("w", f64);
  for (std::size_t at = 0; at < values.size(); ++at) {
    CHECK(f32[at] == static_cast<float>(expected[at]));
    CHECK(f64[at] == expected[at]);
  }
}

TEST_CASE("every stored dtype is read as f32 and f64", "[io]") {
  using Type = StoredDType;
  CheckRead<std::uint8_t>({0, 1, 1}, Type::kBool, {0, 1, 1});
  CheckRead<std::uint8_t>({0, 200, 255}, Type::kU8, {0, 200, 255});
  CheckRead<std::int8_t>({-128, 0, 127}, Type::kI8, {-128, 0, 127});
  CheckRead<std::int16_t>({-32768, 5}, Type::kI16, {-32768, 5});
  CheckRead<std::uint16_t>({65535, 5}, Type::kU16, {65535, 5});
  CheckRead<std::uint16_t>({0x3c00, 0xc000, 0x0001}, Type::kF16, {1, -2, 0x1p-24});
  CheckRead<std::uint16_t>({0x3f80, 0xc000, 0x0001}, Type::kBF16, {1, -2, 0x1p-133});
  CheckRead<std::int32_t>({-5, 1 << 20}, Type::kI32, {-5, 1 << 20});
  CheckRead<std::uint32_t>({4294967295u, 3}, Type::kU32, {4294967295.0, 3});
  CheckRead<float>({0.5f, -3e38f, 1}, Type::kF32, {0.5, static_cast<double>(-3e38f), 1});
  CheckRead<double>({0.1, 1e30, -7}, Type::kF64, {0.1, 1e30, -7});
  CheckRead<std::int64_t>({-9, 1 << 30, 4}, Type::kI64, {-9, 1 << 30, 4});
  CheckRead<std::uint64_t>({9, 1 << 30}, Type::kU64, {9, 1 << 30});
}

TEST_CASE("values that the wanted type cannot hold are refused", "[io]") {
  const TempDir directory;
  std::vector<float> f32(2);
  std::vector<std::int64_t> i64(2);
  const std::string where = "[" + directory.File("w") + "] tensor 'w' ";
  auto source = Stored(directory, Named<double>("w", {2}, StoredDType::kF64, {1, 1e300}));
  CHECK(MessageOf<WeightFileError>([&] { source->ReadAsF32("w", f32); }) ==
        where + "(F64 [2]) is wanted as F32; its element 1 does not fit that type");
  source = Stored(directory, Named<double>("w", {2}, StoredDType::kF64, {NAN, INFINITY}));
  source->ReadAsF32("w", f32);
  CHECK((std::isnan(f32[0]) && std::isinf(f32[1])));
  source = Stored(directory, F32("w", {2}, {3, 0.5f}));
  CHECK(MessageOf<WeightFileError>([&] { source->ReadAsI64("w", i64); }) ==
        where + "(F32 [2]) is wanted as I64; its element 1 does not fit that type");
  source = Stored(directory, F32("w", {2}, {3, NAN}));
  CHECK_THROWS_AS(source->ReadAsI64("w", i64), WeightFileError);
  source = Stored(directory, Named<std::uint64_t>("w", {2}, StoredDType::kU64, {1, ~0ull}));
  CHECK_THROWS_AS(source->ReadAsI64("w", i64), WeightFileError);
  source = Stored(directory, F32("w", {2}, {3, -4}));
  source->ReadAsI64("w", i64);
  CHECK(i64 == std::vector<std::int64_t>{3, -4});
}

TEST_CASE("unknown names and destinations of another size are refused", "[io]") {
  const TempDir directory;
  const auto source = Stored(directory, F32("w", {2}, {1, 2}));
  std::vector<float> values(3);
  const std::string where = "[" + directory.File("w") + "] ";
  CHECK(MessageOf<WeightFileError>([&] { source->ReadAsF32("v", values); }) ==
        where +
            "tensor 'v' is wanted; the file has 1 tensors, not this one; list them with "
            "'frugal inspect'");
  CHECK(MessageOf<WeightFileError>([&] { source->ReadAsF32("w", values); }) ==
        where + "tensor 'w' (F32 [2]) holds 2 elements; it was to be read into 3");
  std::vector<std::byte> bytes(7);
  CHECK(MessageOf<WeightFileError>([&] { source->Read(source->Entries()[0], bytes); }) ==
        where + "tensor 'w' (F32 [2]) holds 8 bytes; it was to be read into 7");
}

TEST_CASE("every half and bfloat16 survives the way through float", "[io]") {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    const float half = ToFloat(Half{stored});
    const auto brain = static_cast<float>(std::bit_cast<BFloat16>(stored));
    wrong += std::isnan(half) ? !std::isnan(ToFloat(ToHalf(half))) : ToHalf(half).bits != stored;
    wrong += std::isnan(brain) ? !std::isnan(static_cast<float>(BFloat16(brain)))
                               : BFloat16(brain).bits != stored;
  }
  CHECK(wrong == 0);
}

TEST_CASE("narrowing to 16 bits rounds to nearest, ties to even", "[io]") {
  CHECK(ToHalf(1 + 0x1p-11f).bits == 0x3c00);             // a tie, down to even
  CHECK(ToHalf(1 + 0x3p-11f).bits == 0x3c02);             // a tie, up to even
  CHECK(ToHalf(1 + 0x1p-11f + 0x1p-20f).bits == 0x3c01);  // above the tie
  CHECK(ToHalf(65519.0f).bits == 0x7bff);
  CHECK(ToHalf(65520.0f).bits == 0x7c00);
  CHECK(ToHalf(0x1p-25f).bits == 0);
  CHECK(ToHalf(0x1.8p-25f).bits == 1);
  CHECK(ToHalf(-0x1.ffep-15f).bits == 0x8400);  // rounds up to the smallest normal number
  CHECK(BFloat16(1 + 0x1p-8f).bits == 0x3f80);
  CHECK(BFloat16(1 + 0x3p-8f).bits == 0x3f82);
  CHECK(std::isinf(static_cast<float>(BFloat16(std::numeric_limits<float>::max()))));
}

}  // namespace
}  // namespace frugal::testing
