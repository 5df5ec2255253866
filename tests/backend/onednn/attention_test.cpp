#include "sdk/backend/onednn/attention/attention.h"

#include "sdk/core/error.h"
#include "tests/backend/onednn/attention_run.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

// Relative norm of the difference. Gradients that cancel to nothing (of a single key, say) are
// measured by the size of their terms, at least 0.01 per element.
double Error(const std::vector<double>& actual, const std::vector<double>& expected) {
  if (actual.size() != expected.size()) return kInfinity;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;  // infinities too
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
  }
  for (const double each : expected) norm += std::isinf(each) ? 0 : each * each + 1e-4;
  const double error = difference == 0 ? 0 : std::sqrt(difference / norm);
  return std::isnan(error) ? kInfinity : error;
}

void Compare(AttentionKernels& kernels, const AttentionCase& c, const AttentionTensors& t,
             const AttentionResults& expected, double forward, double gradient) {
  const AttentionGeometry& g = c.g;
  CAPTURE(g.batch, g.query_length, g.key_length, g.heads, g.key_heads, g.head_size, g.scale,
          g.causal, static_cast<int>(c.mask), static_cast<int>(c.layout), c.range);
  const KernelResults r = Run(kernels, g, t);
  CHECK(Error(Values(r.y), expected.y) < forward);
  CHECK(Error(Values(r.log_sum_exp), expected.log_sum_exp) < forward);
  CHECK(Error(HeadValues(r.dq, g.heads * g.head_size), expected.dq) < gradient);
  CHECK(Error(HeadValues(r.dk, g.key_heads * g.head_size), expected.dk) < gradient);
  CHECK(Error(HeadValues(r.dv, g.key_heads * g.head_size), expected.dv) < gradient);
  CHECK(Overwritten(g, r) <= 0);
}

void CompareFloats(AttentionKernels& kernels, const AttentionCase& c, std::uint32_t seed) {
  Dice dice(seed);
  const AttentionTensors t = RandomTensors(c, dice, DType::kF32);
  Compare(kernels, c, t, NaiveAttention(c.g, t).Run(), kForward, kGradient);
}

void CompareAll(const AttentionCase& c, std::uint32_t seed) {
  OneDnnAttentionKernels fast;
  EigenAttentionKernels reference;
  CompareFloats(fast, c, seed);
  CompareFloats(reference, c, seed);
  Dice dice(seed);
  const AttentionTensors t = RandomTensors(c, dice, DType::kF64);
  Compare(reference, c, t, NaiveAttention(c.g, t).Run(), 1e-12, 1e-12);
}

AttentionCase RandomCase(Dice& dice) {
  AttentionCase c;
  const std::int64_t most = dice.Flip() ? 20 : 150;
  const std::int64_t queries = dice.Between(1, most);
  const std::int64_t keys = dice.Flip() ? queries : dice.Between(1, most);
  const std::int64_t key_heads = dice.Between(1, 3);
  c.g = Geometry(dice.Between(1, 3), queries, keys, key_heads * dice.Between(1, 3), key_heads,
                 dice.Between(1, 40), dice.Flip());
  c.mask = static_cast<MaskForm>(dice.Between(0, 5));
  c.layout = dice.Flip() ? Layout::kApart : Layout::kTogether;
  return c;
}

// The instruction sets that this processor has.
std::vector<const simd::AttentionLoops*> AllLoops() {
  const simd::AttentionLoops* const best = &simd::SelectAttentionLoops();
  std::vector<const simd::AttentionLoops*> all{&simd::BaselineAttentionLoops()};
  if (best != all[0]) all.push_back(&simd::Avx2AttentionLoops());
  if (best == &simd::Avx512AttentionLoops()) all.push_back(best);
  return all;
}

}  // namespace

TEST_CASE("attention equals its formula at random sizes, masks and layouts") {
  Dice dice(1);
  for (std::uint32_t round = 0; round < 40; ++round) CompareAll(RandomCase(dice), 100 + round);
}

TEST_CASE("attention equals its formula on each side of its tiles") {
  for (const bool causal : {false, true}) {
    for (const std::int64_t queries : {1, 15, 16, 63, 64, 65, 129}) {
      for (const std::int64_t keys : {1, 31, 33, 64, 65, 128, 200}) {
        CompareAll({.g = Geometry(1, queries, keys, 2, 1, 8, causal)}, 7);
      }
    }
  }
  for (const std::int64_t head_size : {1, 15, 16, 17, 32, 64, 80, 128, 130}) {
    CompareAll({.g = Geometry(1, 70, 90, 2, 2, head_size, true)}, 8);
  }
}

TEST_CASE("attention copies keys and splits key heads without changing the result") {
  // From 8 key heads on a task is a head; from 4 query tiles on it copies its keys.
  for (const std::int64_t batch : {1, 4}) {
    for (const std::int64_t queries : {130, 256, 300}) {
      CompareAll({.g = Geometry(batch, queries, queries, 4, 2, 16, true),
                  .mask = MaskForm::kOne,
                  .layout = Layout::kTogether},
                 9);
    }
  }
}

TEST_CASE("attention takes every form of mask, with and without causality") {
  for (const bool causal : {false, true}) {
    for (const MaskForm mask : {MaskForm::kOne, MaskForm::kPerBatch, MaskForm::kPerHead,
                                MaskForm::kFull, MaskForm::kOfKeys}) {
      for (const std::int64_t keys : {40, 140}) {
        CompareAll({.g = Geometry(2, 75, keys, 4, 2, 20, causal), .mask = mask}, 10);
      }
    }
  }
}

TEST_CASE("attention is exact where scores are large and grow along the keys") {
  for (const double range : {8.0, 30.0}) {
    AttentionCase c{.g = Geometry(1, 80, 300, 2, 2, 32), .range = range};
    Dice dice(11);
    const AttentionTensors t = RandomTensors(c, dice, DType::kF32);
    float* const k = t.k.tensor.data<float>();
    for (std::int64_t i = 0; i < t.k.tensor.size(); ++i) {
      k[i] *= static_cast<float>(i) / static_cast<float>(t.k.tensor.size());
    }
    // Scores of size s are rounded to s 2^-24, which is the relative error of their exponentials.
    const AttentionResults expected = NaiveAttention(c.g, t).Run();
    OneDnnAttentionKernels fast;
    EigenAttentionKernels reference;
    Compare(fast, c, t, expected, 1e-4, 1e-3);
    Compare(reference, c, t, expected, 1e-4, 1e-3);
  }
}

TEST_CASE("attention agrees in every instruction set") {
  Dice dice(12);
  std::vector<AttentionCase> cases{{.g = Geometry(1, 130, 130, 4, 2, 80, true)},
                                   {.g = Geometry(2, 33, 64, 4, 4, 64), .mask = MaskForm::kFull}};
  for (int round = 0; round < 10; ++round) cases.push_back(RandomCase(dice));
  for (const simd::AttentionLoops* loops : AllLoops()) {
    OneDnnAttentionKernels kernels(*loops);
    for (const AttentionCase& c : cases) CompareFloats(kernels, c, 13);
  }
}

TEST_CASE("attention of queries that see no key is zero and has no gradient") {
  const AttentionGeometry g = Geometry(1, 100, 70, 2, 1, 24, true);  // the first 30 queries
  Dice dice(14);
  const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kF32);
  OneDnnAttentionKernels fast;
  EigenAttentionKernels reference;
  for (AttentionKernels* kernels :
       {static_cast<AttentionKernels*>(&fast), static_cast<AttentionKernels*>(&reference)}) {
    const KernelResults r = Run(*kernels, g, t);
    const auto y = Values(r.y), dq = Values(r.dq.tensor), sums = Values(r.log_sum_exp);
    const std::size_t end = 30 * std::size_t{48};
    for (std::size_t i = 0; i < end; ++i) REQUIRE((y[i] == 0 && dq[i] == 0));
    for (std::size_t i = end; i < y.size(); ++i) REQUIRE((y[i] != 0 && std::isfinite(y[i])));
    for (std::size_t i = 0; i < 100; ++i) REQUIRE(std::isinf(sums[i]) == (i < 30));
  }
}

TEST_CASE("attention keeps what is not a number in the rows that see it") {
  const AttentionGeometry g = Geometry(1, 70, 70, 1, 1, 16, true);
  Dice dice(15);
  const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kF32);
  const std::size_t first = 50 * std::size_t{16};
  t.k.tensor.data<float>()[first] = NAN;
  OneDnnAttentionKernels fast;
  EigenAttentionKernels reference;
  for (AttentionKernels* kernels :
       {static_cast<AttentionKernels*>(&fast), static_cast<AttentionKernels*>(&reference)}) {
    const auto y = Values(Run(*kernels, g, t).y);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(std::isnan(y[i]) == (i >= first));
  }
}

TEST_CASE("attention repeats to the bit, on any number of threads") {
  const int threads = ThreadCount();
  OneDnnAttentionKernels fast;
  for (const AttentionGeometry& g :
       {Geometry(1, 200, 200, 2, 1, 40, true), Geometry(2, 100, 130, 12, 4, 32)}) {
    Dice dice(16);
    const AttentionTensors t =
        RandomTensors({.g = g, .mask = MaskForm::kPerBatch}, dice, DType::kF32);
    const KernelResults first = Run(fast, g, t);
    for (int i = 0; i < kRepeats; ++i) {
      SetThreadCount(1 + i % 3);
      const KernelResults again = Run(fast, g, t);
      CHECK(SameBits(again.y, first.y));
      CHECK(SameBits(again.log_sum_exp, first.log_sum_exp));
      CHECK(SameBits(again.dq.tensor, first.dq.tensor));
      CHECK(SameBits(again.dk.tensor, first.dk.tensor));
      CHECK(SameBits(again.dv.tensor, first.dv.tensor));
    }
    SetThreadCount(threads);
  }
}

TEST_CASE("attention's scratch grows no faster than the sequence") {
  OneDnnAttentionKernels fast;
  EigenAttentionKernels reference;
  const auto bytes = [](const AttentionKernels& kernels, std::int64_t length, bool backward) {
    const AttentionGeometry g = Geometry(1, length, length, 12, 12, 64, true);
    return backward ? kernels.BackwardScratch(g, DType::kF32)
                    : kernels.ForwardScratch(g, DType::kF32);
  };
  for (const bool backward : {false, true}) {
    std::int64_t slope = 0;
    for (const std::int64_t length : {512, 1024, 2048}) {
      const std::int64_t growth = bytes(fast, 2 * length, backward) - bytes(fast, length, backward);
      CHECK(growth % length == 0);
      if (slope != 0) CHECK(growth / length == slope);
      slope = growth / length;
      CHECK(bytes(reference, 2 * length, backward) == bytes(reference, length, backward));
    }
    // Per thread, four rows of 64 floats for each position: less than the inputs.
    CHECK(slope <= std::int64_t{4} * 64 * 4 * ThreadCount());
    const std::int64_t scores = std::int64_t{12} * 4096 * 4096 * 4;
    CHECK(bytes(fast, 4096, backward) < scores / 50);
  }
  // One head is split, and its parts of dk and dv are added.
  const AttentionGeometry one = Geometry(1, 4096, 4096, 1, 1, 64);
  CHECK(fast.BackwardScratch(one, DType::kF32) < std::int64_t{4096} * 4096 * 4 / 2);
}

TEST_CASE("attention of nothing does nothing, and that without keys is zero") {
  OneDnnAttentionKernels fast;
  EigenAttentionKernels reference;
  Dice dice(17);
  for (AttentionKernels* kernels :
       {static_cast<AttentionKernels*>(&fast), static_cast<AttentionKernels*>(&reference)}) {
    for (const AttentionGeometry& g : {Geometry(0, 5, 5, 2, 2, 4), Geometry(2, 5, 0, 2, 2, 4),
                                       Geometry(2, 0, 5, 2, 1, 4, true)}) {
      const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kF32);
      const KernelResults r = Run(*kernels, g, t);
      CHECK(MaxError(r.y, Full(r.y.shape(), 0)) == 0);
      CHECK(MaxError(r.dq.tensor, Full(r.dq.tensor.shape(), 0)) == 0);
      CHECK(MaxError(r.dk.tensor, Full(r.dk.tensor.shape(), 0)) == 0);
      CHECK(MaxError(r.dv.tensor, Full(r.dv.tensor.shape(), 0)) == 0);
    }
  }
}

TEST_CASE("fast attention in f64 is the reference's; mixed types are refused") {
  OneDnnAttentionKernels fast;
  EigenAttentionKernels reference;
  const AttentionGeometry g = Geometry(1, 20, 30, 2, 1, 8);
  Dice dice(18);
  const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kF64);
  const KernelResults actual = Run(fast, g, t), expected = Run(reference, g, t);
  CHECK(SameBits(actual.y, expected.y));
  CHECK(SameBits(actual.dk.tensor, expected.dk.tensor));
  const Tensor y = Uninitialized({1, 20, 16}, DType::kBF16);
  CHECK_THROWS_AS(fast.Forward(g, t.q, t.k, t.v, {}, y, actual.log_sum_exp, nullptr), UsageError);
  const Tensor wrong = Uninitialized({1, 2, 20, 30}, DType::kI32);
  const AttentionTensors f = RandomTensors({.g = g}, dice, DType::kF32);
  const Tensor out = Uninitialized({1, 20, 16}), sums = Uninitialized({1, 2, 20});
  CHECK_THROWS_AS(fast.Forward(g, f.q, f.k, f.v, wrong, out, sums, nullptr), UsageError);
  CHECK_THROWS_AS(fast.Forward(g, f.q, f.k, f.v, {}, out, wrong, nullptr), UsageError);
  CHECK_THROWS_AS(fast.Backward(g, t.dy, f.q, f.k, f.v, {}, out, sums, f.q, f.k, f.v, nullptr),
                  UsageError);
}
