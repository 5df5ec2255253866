#include "sdk/core/bfloat16.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

namespace frugal {
namespace {

float Round(float value) { return static_cast<float>(BFloat16(value)); }

TEST_CASE("bf16 keeps what has eight significant bits and rounds the rest to even", "[core]") {
  for (const float exact : {0.0F, 1.0F, -2.5F, 255.0F, 0x1p-126F, 0x1p-133F}) {
    CHECK(Round(exact) == exact);
  }
  CHECK(Round(257.0F) == 256.0F);   // a tie: down to the even one
  CHECK(Round(259.0F) == 260.0F);   // a tie: up to the even one
  CHECK(Round(257.01F) == 258.0F);  // above a tie
  CHECK(std::signbit(Round(-0.0F)));
}

TEST_CASE("bf16 keeps infinities and NaN, and rounds the largest f32 to infinity", "[core]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(Round(kInfinity) == kInfinity);
  CHECK(Round(-kInfinity) == -kInfinity);
  CHECK(Round(std::numeric_limits<float>::max()) == kInfinity);
  CHECK(std::isnan(Round(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(Round(std::bit_cast<float>(0x7f800001U))));
}

}  // namespace
}  // namespace frugal
