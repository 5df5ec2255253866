#include <cmath>
#include <random>

#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

using Random = std::mt19937_64;

// Bits of one element, replaced where JSON cannot hold them: NaN, infinity, BOOL above 1.
template <class T>
void Put(std::vector<std::byte>& bytes, T value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void PutRandom(std::vector<std::byte>& bytes, StoredDType dtype, Random& random) {
  const std::uint64_t word = random();
  const auto low = static_cast<std::uint16_t>(word);
  float f32 = 0;
  double f64 = 0;
  std::memcpy(&f32, &word, sizeof f32);
  std::memcpy(&f64, &word, sizeof f64);
  switch (dtype) {
    case StoredDType::kBool:
      return Put(bytes, static_cast<std::uint8_t>(word & 1));
    case StoredDType::kF16:
      return Put(bytes, (low & 0x7c00) == 0x7c00 ? std::uint16_t{1} : low);
    case StoredDType::kBF16:
      return Put(bytes, (low & 0x7f80) == 0x7f80 ? std::uint16_t{1} : low);
    case StoredDType::kF32:
      return Put(bytes, std::isfinite(f32) ? f32 : -0.0f);
    case StoredDType::kF64:
      return Put(bytes, std::isfinite(f64) ? f64 : -0.0);
    default:
      break;
  }
  const auto raw = std::as_bytes(std::span(&word, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.begin() + SizeOf(dtype));
}

Shape RandomShape(Random& random) {
  std::vector<std::int64_t> extents(random() % 5);
  for (std::int64_t& extent : extents) extent = static_cast<std::int64_t>(random() % 7);
  return Shape(extents);
}

std::vector<NamedBytes> RandomWeights(Random& random) {
  static const std::vector<std::string> endings = {"weight", "naïve \"quoted\"\n", "a/b\\c", "{"};
  std::vector<NamedBytes> weights(random() % 12);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    auto& [tensor, bytes] = weights[at];
    tensor.name = std::to_string(random() % 100) + "." + std::to_string(at) + "." +
                  endings[random() % endings.size()];
    tensor.shape = RandomShape(random);
    tensor.dtype = static_cast<StoredDType>(random() % kStoredDTypeCount);
    for (auto left = tensor.shape.ElementCount(); left > 0; --left) {
      PutRandom(bytes, tensor.dtype, random);
    }
  }
  return weights;
}

void CheckSame(const WeightSource& source, const std::vector<NamedBytes>& weights) {
  REQUIRE(source.Entries().size() == weights.size());
  for (const auto& [tensor, bytes] : weights) {
    INFO(Describe(tensor));
    REQUIRE(source.Find(tensor.name) != nullptr);
    CHECK(*source.Find(tensor.name) == tensor);
    CHECK(ReadBytes(source, tensor.name) == bytes);
  }
}

TEST_CASE("random weights come back bit for bit from every form", "[io]") {
  const auto format = GENERATE(WeightsFileFormat::kSafetensors, WeightsFileFormat::kJson,
                               WeightsFileFormat::kBinary);
  const TempDir directory;
  const std::string path = directory.File("weights");
  const WeightMetadata metadata = {{"format", "pt"}, {"naïve", "a \"quoted\"\nline"}};
  Random random(7);
  for (int round = 0; round < 60; ++round) {
    const auto weights = RandomWeights(random);
    WriteWeights(path, format, weights, round % 2 == 0 ? metadata : WeightMetadata{});
    const auto source = OpenWeights(path);
    CheckSame(*source, weights);
    CHECK(source->Metadata() == (round % 2 == 0 ? metadata : WeightMetadata{}));
    CHECK_NOTHROW(OpenWeights(path, format));
  }
  CHECK(directory.Count() == 1);
}

TEST_CASE("NaN and infinity come back from the forms that hold bits", "[io]") {
  const auto format = GENERATE(WeightsFileFormat::kSafetensors, WeightsFileFormat::kBinary);
  const TempDir directory;
  const std::vector<NamedBytes> weights = {F32("w", {3}, {NAN, INFINITY, -INFINITY})};
  WriteWeights(directory.File("w"), format, weights);
  CheckSame(*OpenWeights(directory.File("w")), weights);
}

TEST_CASE("lists longer than the buffers come back from every form", "[io]") {
  const auto format = GENERATE(WeightsFileFormat::kSafetensors, WeightsFileFormat::kJson,
                               WeightsFileFormat::kBinary);
  const TempDir directory;
  std::vector<float> values(100'003);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = static_cast<float>(std::sin(static_cast<double>(at)) * 1e-3);
  }
  const std::vector<NamedBytes> weights = {F32("long", {100'003}, values), F32("next", {1}, {2})};
  WriteWeights(directory.File("w"), format, weights);
  CheckSame(*OpenWeights(directory.File("w")), weights);
}

TEST_CASE("equal weights give equal files", "[io]") {
  const auto format = GENERATE(WeightsFileFormat::kSafetensors, WeightsFileFormat::kJson,
                               WeightsFileFormat::kBinary);
  const TempDir directory;
  Random random(3);
  const auto weights = RandomWeights(random);
  WriteWeights(directory.File("one"), format, weights, {{"a", "1"}, {"b", "2"}});
  WriteWeights(directory.File("two"), format, weights, {{"b", "2"}, {"a", "1"}});
  CHECK(ReadAll(directory.File("one")) == ReadAll(directory.File("two")));
}

}  // namespace
}  // namespace frugal::testing
