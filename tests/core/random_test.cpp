#include "sdk/core/random.h"

#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "sdk/core/normal_numbers.h"
#include "tests/catch.h"

namespace frugal {
namespace {

TEST_CASE("random words are those of Philox4x32-10", "[core][random]") {
  // The known answers that come with Random123: counter 0, key 0.
  const auto words = RandomWords(0, 0);
  CHECK(words[0] == 0x6627e8d5u);
  CHECK(words[1] == 0xe169c58du);
  CHECK(words[2] == 0xbc57ac4cu);
  CHECK(words[3] == 0x9b00dbd8u);
}

TEST_CASE("streams differ in seed, name and number", "[core][random]") {
  const std::set<std::uint64_t> keys = {StreamKey(1, "a"),    StreamKey(2, "a"),
                                        StreamKey(1, "b"),    StreamKey(1, "a", 1),
                                        StreamKey(1, "a", 2), StreamKey(1, "")};
  CHECK(keys.size() == 6);
  CHECK(StreamKey(1, "a", 3) == StreamKey(1, "a", 3));
}

TEST_CASE("element i of a uniform stream is word i % 4 of block i / 4", "[core][random]") {
  const std::uint64_t key = StreamKey(5, "here");
  for (std::uint64_t i = 0; i < 12; ++i) {
    CHECK(UniformAt(key, i) == UniformFromWord(RandomWords(key, i / 4)[i % 4]));
  }
}

TEST_CASE("uniform numbers fill [0, 1)", "[core][random]") {
  CHECK(UniformFromWord(0) == 0);
  CHECK(UniformFromWord(0xffffffffu) < 1);
  CHECK(static_cast<float>(UniformFromWord(0xffffffffu)) < 1.0F);
  const std::uint64_t key = StreamKey(6, "uniform");
  constexpr int kCount = 100000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double value = UniformAt(key, i);
    sum += value;
    squares += value * value;
  }
  // Five deviations of the mean and of the mean square.
  CHECK(std::abs(sum / kCount - 0.5) < 5 * std::sqrt(1.0 / 12 / kCount));
  CHECK(std::abs(squares / kCount - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / kCount));
}

TEST_CASE("normal numbers have the moments of a normal distribution", "[core][random]") {
  const std::uint64_t key = StreamKey(7, "normal");
  constexpr int kCount = 100000;
  double sum[5] = {};
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double value = NormalAt(key, i);
    REQUIRE(std::isfinite(value));
    for (int power = 1; power <= 4; ++power) sum[power] += std::pow(value, power) / kCount;
  }
  const double deviation = 1 / std::sqrt(static_cast<double>(kCount));
  CHECK(std::abs(sum[1]) < 5 * deviation);
  CHECK(std::abs(sum[2] - 1) < 5 * std::sqrt(2.0) * deviation);
  CHECK(std::abs(sum[3]) < 5 * std::sqrt(15.0) * deviation);
  CHECK(std::abs(sum[4] - 3) < 5 * std::sqrt(96.0) * deviation);
}

TEST_CASE("numbers made together are those made alone", "[core][random]") {
  const std::uint64_t key = StreamKey(9, "together");
  for (const std::uint64_t first : {0U, 1U, 2U, 3U, 127U, 128U}) {
    for (const std::size_t count : {0U, 1U, 2U, 5U, 127U, 128U, 129U, 1000U}) {
      std::vector<double> uniforms(count), normals(count);
      FillUniforms(key, first, uniforms);
      FillNormals(key, first, normals);
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(uniforms[i] == UniformAt(key, first + i));
        CHECK(normals[i] == NormalAt(key, first + i));
      }
    }
  }
}

TEST_CASE("normal numbers are those of the formula", "[core][random]") {
  const auto check = [](std::uint32_t first, std::uint32_t second) {
    const double u = (first + 0.5) / 4294967296.0;
    const double v = (second + 0.5) / 4294967296.0;
    CHECK(normal_numbers::Logarithm(u) == Approx(std::log(u)).epsilon(5e-16).margin(0));
    const auto [cosine, sine] = normal_numbers::AtTurn(v);
    CHECK(std::abs(cosine - std::cos(2 * std::numbers::pi * v)) < 1e-15);
    CHECK(std::abs(sine - std::sin(2 * std::numbers::pi * v)) < 1e-15);
    const double radius = std::sqrt(-2 * std::log(u));
    const auto normals = normal_numbers::Normals(first, second);
    CHECK(std::abs(normals.cosine - radius * cosine) < 1e-15 * radius);
    CHECK(std::abs(normals.sine - radius * sine) < 1e-15 * radius);
  };
  const std::uint32_t edges[] = {0,           1,           0x1fffffffU, 0x20000000U,
                                 0x3fffffffU, 0x40000000U, 0x5fffffffU, 0x60000000U,
                                 0x7fffffffU, 0x80000000U, 0xb504f333U, 0xb504f334U,
                                 0xbfffffffU, 0xc0000000U, 0xe0000000U, 0xffffffffU};
  for (const std::uint32_t first : edges) {
    for (const std::uint32_t second : edges) check(first, second);
  }
  for (std::uint64_t block = 0; block < 10000; ++block) {
    const auto words = RandomWords(3, block);
    check(words[0], words[1]);
  }
}

TEST_CASE("the two normals of one block are independent", "[core][random]") {
  const std::uint64_t key = StreamKey(8, "pairs");
  constexpr int kCount = 50000;
  double sum = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) sum += NormalAt(key, 2 * i) * NormalAt(key, 2 * i + 1);
  CHECK(std::abs(sum / kCount) < 5 / std::sqrt(static_cast<double>(kCount)));
}

}  // namespace
}  // namespace frugal
