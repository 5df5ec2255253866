// Optimizer state in bf16 and in 8 bits.
#include <bit>

#include "sdk/backend/eigen/optimizer/state_codec.h"
#include "sdk/backend/onednn/simd/loops.h"
#include "sdk/core/error.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

struct NamedCodec {
  const char* name;
  const StateCodec& codec;
};

std::vector<NamedCodec> Codecs() {
  std::vector<NamedCodec> all = {{"plain", eigen::PlainStateCodec()},
                                 {"baseline", simd::BaselineLoops().optimizer.codec}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    all.push_back({"avx2", simd::Avx2Loops().optimizer.codec});
  }
  if (simd::SelectLoops().f32.elementwise.add == simd::Avx512Loops().f32.elementwise.add) {
    all.push_back({"avx512", simd::Avx512Loops().optimizer.codec});
  }
  return all;
}

using Floats = std::vector<float>;

// Returns what is stored of x, as f32 again.
Floats Stored(const StateCodec& codec, const Floats& x, std::uint32_t seed, StateSign sign) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<std::uint8_t> codes(x.size(), 77);
  Floats y(x.size(), NAN);
  const float scale = codec.encode(x.data(), seed, sign, codes.data(), n);
  codec.decode(codes.data(), scale, sign, y.data(), n);
  return y;
}

Floats StoredAsBf16(const StateCodec& codec, const Floats& x, std::uint32_t seed) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<BFloat16> half(x.size());
  Floats y(x.size(), NAN);
  codec.narrow(x.data(), seed, half.data(), n);
  codec.widen(half.data(), y.data(), n);
  return y;
}

// Magnitudes over nine decades; positive where there is no sign.
Floats Spread(std::int64_t n, std::uint64_t seed, StateSign sign) {
  Floats x;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    const double magnitude = 3 * std::pow(10.0, -9 * UniformAt(seed, 2 * at));
    const bool minus = sign == StateSign::kSigned && UniformAt(seed, 2 * at + 1) < 0.5;
    x.push_back(static_cast<float>(minus ? -magnitude : magnitude));
  }
  return x;
}

// Every code of a block of largest magnitude 1, upwards.
Floats AllCodes(const StateCodec& codec, StateSign sign) {
  const int last = sign == StateSign::kSigned ? 127 : 255;
  std::vector<std::uint8_t> codes;
  for (int c = 0; c <= last; ++c) codes.push_back(static_cast<std::uint8_t>(c));
  Floats values(codes.size());
  codec.decode(codes.data(), 1, sign, values.data(), static_cast<std::int64_t>(codes.size()));
  return values;
}

}  // namespace

TEST_CASE("the 8-bit code has the paper's values") {
  for (const auto& [name, codec] : Codecs()) {
    INFO(name);
    const Floats with = AllCodes(codec, StateSign::kSigned);
    const Floats without = AllCodes(codec, StateSign::kUnsigned);
    CHECK(with[0] == 0);
    CHECK(with[1] == Approx(0.55e-6));
    CHECK(with[64] == Approx(0.1 + 0.9 * 0.5 / 64));  // the first of the last decade
    CHECK(with[127] == Approx(0.1 + 0.9 * 63.5 / 64));
    CHECK(without[2] == Approx(0.325e-6));  // bitsandbytes' smallest without sign
    CHECK(without[255] == Approx(0.1 + 0.9 * 127.5 / 128));
    CHECK(std::is_sorted(with.begin(), with.end()));
    CHECK(std::is_sorted(without.begin(), without.end()));
  }
}

TEST_CASE("codes and the largest magnitude of a block survive being stored") {
  for (const auto& [name, codec] : Codecs()) {
    for (const StateSign sign : {StateSign::kSigned, StateSign::kUnsigned}) {
      INFO(name);
      Floats x = AllCodes(codec, sign);
      for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const Floats y = Stored(codec, x, seed, sign);
        CHECK(y.back() == Approx(x.back()).epsilon(1e-6));
        int moved = 0;  // by rounding errors, which may happen to be just over a border
        for (std::size_t i = 0; i < x.size(); ++i) moved += y[i] != Approx(x[i]).epsilon(1e-5);
        CHECK(moved <= 1);
      }
    }
  }
}

TEST_CASE("8 bits keep each element between its neighbours, and its mean") {
  const StateCodec& plain = eigen::PlainStateCodec();
  for (const auto& [name, codec] : Codecs()) {
    for (const StateSign sign : {StateSign::kSigned, StateSign::kUnsigned}) {
      INFO(name);
      const Floats x = Spread(kStateBlock, 5, sign);
      const Floats table = AllCodes(plain, sign);
      const float largest = *std::ranges::max_element(x, {}, [](float v) { return std::abs(v); });
      const float scale = std::abs(largest) / table.back();
      std::vector<double> sum(x.size());
      constexpr int kRounds = 4000;
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const Floats y = Stored(codec, x, 1000 + round * 977, sign);
        for (std::size_t i = 0; i < x.size(); ++i) sum[i] += y[i];
      }
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float multiple = std::abs(x[i]) / scale;
        const auto above = std::ranges::upper_bound(table, multiple);
        const float low = above == table.begin() ? 0 : *(above - 1) * scale;
        const float high = above == table.end() ? low : *above * scale;
        // Below the first code there is nothing but that code for values without sign.
        if (sign == StateSign::kUnsigned && low == 0) {
          CHECK(sum[i] / kRounds == Approx(high));
          continue;
        }
        const double noise = 0.5 * (high - low) / std::sqrt(kRounds);
        INFO("element " << i << " " << x[i] << " in " << low << " .. " << high);
        CHECK(std::abs(sum[i] / kRounds - x[i]) <= 5 * noise + 1e-5 * std::abs(x[i]));
      }
    }
  }
}

TEST_CASE("all forms of the conversions agree") {
  const StateCodec& plain = eigen::PlainStateCodec();
  for (const auto& [name, codec] : Codecs()) {
    for (const std::int64_t n : {1, 3, 17, 255, 256}) {
      for (const StateSign sign : {StateSign::kSigned, StateSign::kUnsigned}) {
        INFO(name << " " << n);
        int differ = 0;
        for (std::uint32_t seed = 0; seed < 20; ++seed) {
          const Floats x = Spread(n, seed, sign);
          CHECK(StoredAsBf16(codec, x, seed) == StoredAsBf16(plain, x, seed));
          const Floats a = Stored(codec, x, seed, sign), b = Stored(plain, x, seed, sign);
          for (std::size_t i = 0; i < x.size(); ++i) differ += a[i] != Approx(b[i]).epsilon(1e-5);
        }
        CHECK(differ <= n * 20 / 1000);  // the noise fell between their two roundings
      }
    }
  }
}

TEST_CASE("zero, tiny, infinite and missing numbers are stored safely") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const auto& [name, codec] : Codecs()) {
    for (const StateSign sign : {StateSign::kSigned, StateSign::kUnsigned}) {
      INFO(name);
      CHECK(Stored(codec, {0, 0, 0}, 1, sign) == Floats{0, 0, 0});
      CHECK(Stored(codec, {1e-40F, 0}, 1, sign) == Floats{0, 0});
      CHECK(Stored(codec, {1, NAN}, 1, sign) == Floats{0, 0});
      CHECK(Stored(codec, {1, kInf}, 1, sign) == Floats{0, 0});
      CHECK(Stored(codec, {2e-38F}, 1, sign)[0] == Approx(2e-38F));
      CHECK(Stored(codec, {3e38F}, 1, sign)[0] == Approx(3e38F));
    }
    // A number that divides is never lost beside something much larger.
    CHECK(Stored(codec, {1, 1e-30F, 0}, 1, StateSign::kUnsigned)[1] > 0);
    const Floats half = StoredAsBf16(codec, {0, kInf, -kInf, NAN, -1.5F}, 3);
    CHECK((half[0] == 0 && half[1] == kInf && half[2] == -kInf && half[4] == -1.5F));
    CHECK(std::isnan(half[3]));
  }
}

namespace {

struct Moments {
  Moments(std::int64_t n, DType dtype)
      : parameter(Full({n}, 0)),
        first(Full({dtype == DType::kU8 ? BlockStateBytes(n) : n}, 0, dtype)),
        second(Clone(first)) {}
  Tensor parameter, first, second;
};

Floats SecondMoment(const Moments& m, std::int64_t n) {
  if (m.second.dtype() == DType::kBF16) {
    const std::vector<double> values = Values(m.second);
    return {values.begin(), values.end()};
  }
  Floats out(static_cast<std::size_t>(n));
  const auto* codes = m.second.data<std::uint8_t>();
  const auto* scales = reinterpret_cast<const float*>(codes + StateScalesOffset(n));
  for (std::int64_t at = 0; at < n; at += kStateBlock) {
    eigen::PlainStateCodec().decode(codes + at, scales[at / kStateBlock], StateSign::kUnsigned,
                                    out.data() + at, std::min(kStateBlock, n - at));
  }
  return out;
}

void RunSteps(Backend& backend, Moments& m, const Tensor& gradient, std::int64_t from,
              std::int64_t steps) {
  AdamArguments a{.learning_rate = 1e-4};
  for (a.step = from + 1; a.step <= from + steps; ++a.step) {
    a.noise_key = StreamKey(9, "p", static_cast<std::uint64_t>(a.step));
    backend.optimizer().Adam(a, gradient, m.first, m.second, m.parameter);
  }
}

}  // namespace

// Rounded to the nearest, bf16 stays where it is below a change of 0.2%; a step changes the second
// moment by at most 0.1%, so it would never follow a gradient that falls.
TEST_CASE("the second moment follows gradients that grow and fall") {
  Backends b;
  constexpr std::int64_t kCount = 300;
  for (Backend* backend : {b.fast.get(), b.reference.get()}) {
    for (const DType dtype : {DType::kBF16, DType::kU8}) {
      INFO(backend->name() << " " << NameOf(dtype));
      Moments m(kCount, dtype);
      std::int64_t step = 0;
      for (const double level : {0.1, 1.0, 0.2}) {
        // Three sizes of gradients side by side, the first of which falls beside the others.
        Floats sizes;
        for (std::int64_t i = 0; i < kCount; ++i) sizes.push_back(i % 3 == 0 ? 0.05F : 0.3F);
        for (std::int64_t i = 0; i < kCount; i += 3) {
          sizes[static_cast<std::size_t>(i)] *= static_cast<float>(level);
        }
        RunSteps(*backend, m, MakeTensor({kCount}, sizes), step, 9000);
        step += 9000;
        double ratio = 0;
        const Floats second = SecondMoment(m, kCount);
        for (std::size_t i = 0; i < sizes.size(); i += 3) {
          ratio += second[i] / (sizes[i] * sizes[i]) / (kCount / 3.0);
          if (dtype == DType::kBF16)
            CHECK(second[i] / (sizes[i] * sizes[i]) == Approx(1).epsilon(0.05));
        }
        CHECK(ratio == Approx(1).epsilon(0.03));
      }
    }
  }
}

TEST_CASE("steps with narrow state agree between backends and stay near f32") {
  Backends b;
  Dice dice(3);
  for (const DType dtype : {DType::kBF16, DType::kU8}) {
    for (const std::int64_t n : {0, 1, 255, 257, 16384, 40001}) {
      INFO(NameOf(dtype) << " " << n);
      Moments fast(n, dtype), slow(n, dtype), exact(n, DType::kF32);
      Moments sgd_fast(n, dtype), sgd_slow(n, dtype), sgd_exact(n, DType::kF32);
      for (std::int64_t step = 0; step < 5; ++step) {
        const Tensor gradient = RandomTensor({n}, dice.Seed());
        RunSteps(*b.fast, fast, gradient, step, 1);
        RunSteps(*b.reference, slow, gradient, step, 1);
        RunSteps(*b.reference, exact, gradient, step, 1);
        const SgdArguments a{.learning_rate = 0.1,
                             .momentum = 0.9,
                             .weight_decay = 0.01,
                             .nesterov = n % 2 == 0,
                             .first_step = step == 0,
                             .noise_key = static_cast<std::uint64_t>(step)};
        b.fast->optimizer().Sgd(a, gradient, sgd_fast.first, sgd_fast.parameter);
        b.reference->optimizer().Sgd(a, gradient, sgd_slow.first, sgd_slow.parameter);
        b.reference->optimizer().Sgd(a, gradient, sgd_exact.first, sgd_exact.parameter);
      }
      CHECK(RelativeError(fast.parameter, slow.parameter) < 1e-3);
      CHECK(RelativeError(sgd_fast.parameter, sgd_slow.parameter) < 1e-3);
      CHECK(RelativeError(fast.parameter, exact.parameter) < 0.03);
      CHECK(RelativeError(sgd_fast.parameter, sgd_exact.parameter) < 0.03);
      if (n > 1000) CHECK(RelativeError(sgd_fast.parameter, sgd_exact.parameter) > 0);
    }
  }
}

TEST_CASE("narrow state is for f32 parameters") {
  Backends b;
  const Tensor p = Full({4}, 0, DType::kF64), g = Full({4}, 1, DType::kF64);
  const Tensor m = Full({4}, 0, DType::kBF16), v = Full({4}, 0, DType::kBF16);
  CHECK_THROWS_AS(b.reference->optimizer().Adam({}, g, m, v, p), UsageError);
  CHECK_THROWS_AS(b.fast->optimizer().Sgd({.momentum = 0.9}, g, m, p), UsageError);
}

TEST_CASE("8-bit state has one byte an element and a scale a block") {
  CHECK(BlockStateBytes(0) == 0);
  CHECK(BlockStateBytes(1) == 8);
  CHECK(BlockStateBytes(256) == 260);
  CHECK(BlockStateBytes(257) == 268);
}

}  // namespace frugal::testing
