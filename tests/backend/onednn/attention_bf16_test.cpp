#include "sdk/backend/onednn/attention/attention.h"
#include "sdk/core/error.h"
#include "tests/backend/onednn/attention_run.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

struct Errors {
  double largest = 0, norm = 0;  // of the difference, relative to the largest value and the norm
};

// Gradients that cancel to nothing (of a single key, say) are measured by the size of their terms,
// `floor` per element.
Errors ErrorsOf(const std::vector<double>& actual, const std::vector<double>& expected,
                double floor) {
  Errors errors{kInfinity, kInfinity};
  if (actual.size() != expected.size()) return errors;
  double largest = 0, size = floor, squares = 0, norm = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i]) continue;  // infinities too
    const double error = std::abs(actual[i] - expected[i]);
    if (!(error < kInfinity)) return errors;
    largest = std::max(largest, error);
    squares += error * error;
  }
  for (const double each : expected) {
    if (std::isinf(each)) continue;
    size = std::max(size, std::abs(each));
    norm += each * each + floor * floor;
  }
  return {largest / size, squares == 0 ? 0 : std::sqrt(squares / norm)};
}

void CheckErrors(const Errors& errors, double largest, double norm) {
  CHECK(errors.largest < largest);
  CHECK(errors.norm < norm);
}

// Against the formula in f64 on the same rounded numbers. 2^-8 is the distance of two neighbours in
// bf16; outputs and, between the products, probabilities are rounded to half of it at most.
void Compare(AttentionKernels& kernels, const AttentionCase& c, const AttentionTensors& t,
             const AttentionResults& expected) {
  const AttentionGeometry& g = c.g;
  CAPTURE(g.batch, g.query_length, g.key_length, g.heads, g.key_heads, g.head_size, g.scale,
          g.causal, static_cast<int>(c.mask), static_cast<int>(c.layout), c.range);
  const KernelResults r = Run(kernels, g, t);
  CheckErrors(ErrorsOf(Values(r.y), expected.y, 0.01 * c.range), 1e-2, 3.5e-3);
  CheckErrors(ErrorsOf(Values(r.log_sum_exp), expected.log_sum_exp, 1), 1e-3, 3e-4);
  const std::int64_t queries = g.heads * g.head_size, keys = g.key_heads * g.head_size;
  const double terms = 0.1 * c.range * c.range * c.range;
  CheckErrors(ErrorsOf(HeadValues(r.dq, queries), expected.dq, terms), 1.5e-2, 6e-3);
  CheckErrors(ErrorsOf(HeadValues(r.dk, keys), expected.dk, terms), 1.5e-2, 6e-3);
  CheckErrors(ErrorsOf(HeadValues(r.dv, keys), expected.dv, 0.01 * c.range), 1.5e-2, 6e-3);
  CHECK(Overwritten(g, r) <= 0);
}

// All ways to compute bf16 that this processor has: matrix tiles, where there are any, first.
std::vector<std::unique_ptr<AttentionKernels>> AllKernels() {
  std::vector<std::unique_ptr<AttentionKernels>> all;
  all.push_back(std::make_unique<OneDnnAttentionKernels>());
  all.push_back(std::make_unique<OneDnnAttentionKernels>(simd::SelectAttentionLoops(), false));
  all.push_back(std::make_unique<OneDnnAttentionKernels>(simd::BaselineAttentionLoops(), false));
  return all;
}

void CompareAll(const AttentionCase& c, std::uint32_t seed) {
  Dice dice(seed);
  AttentionTensors t = RandomTensors(c, dice, DType::kBF16);
  if (c.mask != MaskForm::kNone && dice.Flip()) {  // in f32
    t.mask = MakeTensor(t.mask.shape(), Values(t.mask));
  }
  const AttentionResults expected = NaiveAttention(c.g, t).Run();
  for (const auto& kernels : AllKernels()) Compare(*kernels, c, t, expected);
}

AttentionCase RandomCase(Dice& dice) {
  AttentionCase c;
  const std::int64_t most = dice.Flip() ? 40 : 300;
  const std::int64_t queries = dice.Between(1, most);
  const std::int64_t keys = dice.Flip() ? queries : dice.Between(1, most);
  const std::int64_t key_heads = dice.Between(1, 2);
  const std::int64_t head_size = dice.Flip() ? dice.Between(1, 4) * 32 : dice.Between(8, 80);
  c.g = Geometry(dice.Between(1, 2), queries, keys, key_heads * dice.Between(1, 3), key_heads,
                 head_size, dice.Flip());
  c.mask = dice.Flip() ? MaskForm::kNone : static_cast<MaskForm>(dice.Between(1, 5));
  c.layout = dice.Flip() ? Layout::kApart : Layout::kTogether;
  return c;
}

void CheckSameBits(const KernelResults& a, const KernelResults& b) {
  CHECK(SameBits(a.y, b.y));
  CHECK(SameBits(a.log_sum_exp, b.log_sum_exp));
  CHECK(SameBits(a.dq.tensor, b.dq.tensor));
  CHECK(SameBits(a.dk.tensor, b.dk.tensor));
  CHECK(SameBits(a.dv.tensor, b.dv.tensor));
}

}  // namespace

TEST_CASE("bf16 attention equals its formula at random sizes, masks and layouts") {
  Dice dice(1);
  for (std::uint32_t round = 0; round < 40; ++round) CompareAll(RandomCase(dice), 100 + round);
}

TEST_CASE("bf16 attention equals its formula on each side of its tiles") {
  for (const bool causal : {false, true}) {
    for (const std::int64_t queries : {1, 31, 33, 128, 130}) {
      for (const std::int64_t keys : {1, 31, 33, 64, 128, 161}) {
        CompareAll({.g = Geometry(1, queries, keys, 2, 1, 8, causal)}, 7);
      }
    }
  }
  for (const std::int64_t head_size : {1, 15, 16, 31, 33, 64, 80, 128, 130}) {
    CompareAll({.g = Geometry(1, 70, 90, 2, 2, head_size, true)}, 8);
  }
}

TEST_CASE("bf16 attention keeps to any scale") {
  for (const double scale : {-0.3, 0.0, 1.0}) {
    AttentionCase c{.g = Geometry(1, 40, 50, 2, 2, 16, true)};
    c.g.scale = scale;
    CompareAll(c, 9);
    c.mask = MaskForm::kFull;
    CompareAll(c, 10);
  }
}

TEST_CASE("bf16 attention follows scores that are large and grow along the keys") {
  AttentionCase c{.g = Geometry(1, 80, 300, 2, 2, 32), .range = 8};
  Dice dice(11);
  AttentionTensors t = RandomTensors(c, dice, DType::kBF16);
  BFloat16* const k = t.k.tensor.data<BFloat16>();
  for (std::int64_t i = 0; i < t.k.tensor.size(); ++i) {
    k[i] = BFloat16(static_cast<float>(k[i]) * static_cast<float>(i) /
                    static_cast<float>(t.k.tensor.size()));
  }
  const AttentionResults expected = NaiveAttention(c.g, t).Run();
  for (const auto& kernels : AllKernels()) {
    const KernelResults r = Run(*kernels, c.g, t);
    CheckErrors(ErrorsOf(Values(r.y), expected.y, 0.1), 1e-2, 5e-3);
    CheckErrors(ErrorsOf(Values(r.log_sum_exp), expected.log_sum_exp, 1), 1e-4, 1e-4);
  }
}

TEST_CASE("bf16 attention of queries that see no key is zero and has no gradient") {
  const AttentionGeometry g = Geometry(1, 100, 70, 2, 1, 24, true);  // the first 30 queries
  Dice dice(14);
  const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kBF16);
  for (const auto& kernels : AllKernels()) {
    const KernelResults r = Run(*kernels, g, t);
    const auto y = Values(r.y), dq = Values(r.dq.tensor), sums = Values(r.log_sum_exp);
    const std::size_t end = 30 * std::size_t{48};
    for (std::size_t i = 0; i < end; ++i) REQUIRE((y[i] == 0 && dq[i] == 0));
    for (std::size_t i = end; i < y.size(); ++i) REQUIRE((y[i] != 0 && std::isfinite(y[i])));
    for (std::size_t i = 0; i < 100; ++i) REQUIRE(std::isinf(sums[i]) == (i < 30));
  }
}

TEST_CASE("bf16 attention keeps what is not a number in the rows that see it") {
  const AttentionGeometry g = Geometry(1, 70, 70, 1, 1, 16, true);
  Dice dice(15);
  const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kBF16);
  const std::size_t first = 50 * std::size_t{16};
  t.k.tensor.data<BFloat16>()[first] = BFloat16(NAN);
  for (const auto& kernels : AllKernels()) {
    const auto y = Values(Run(*kernels, g, t).y);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(std::isnan(y[i]) == (i >= first));
  }
}

TEST_CASE("bf16 attention repeats to the bit, on any number of threads") {
  const int threads = ThreadCount();
  for (const auto& kernels : AllKernels()) {
    for (const AttentionGeometry& g :
         {Geometry(1, 300, 300, 2, 1, 40, true), Geometry(2, 100, 130, 12, 4, 32)}) {
      Dice dice(16);
      const AttentionTensors t =
          RandomTensors({.g = g, .mask = MaskForm::kPerBatch}, dice, DType::kBF16);
      const KernelResults first = Run(*kernels, g, t);
      for (const int count : {1, 2, 5, 3, 1}) {
        SetThreadCount(count);
        CheckSameBits(Run(*kernels, g, t), first);
      }
      SetThreadCount(threads);
    }
  }
}

TEST_CASE("bf16 attention's scratch grows no faster than the sequence") {
  for (const auto& kernels : AllKernels()) {
    const auto bytes = [&](std::int64_t length, bool backward) {
      const AttentionGeometry g = Geometry(1, length, length, 12, 12, 64, true);
      return backward ? kernels->BackwardScratch(g, DType::kBF16)
                      : kernels->ForwardScratch(g, DType::kBF16);
    };
    for (const bool backward : {false, true}) {
      const std::int64_t growth = bytes(1024, backward) - bytes(512, backward);
      CHECK(bytes(2048, backward) - bytes(1024, backward) == 2 * growth);
      CHECK(growth <= 512 * std::int64_t{4} * 64 * 4 * ThreadCount());
    }
  }
}

TEST_CASE("bf16 attention of nothing does nothing, and that without keys is zero") {
  Dice dice(17);
  for (const auto& kernels : AllKernels()) {
    for (const AttentionGeometry& g : {Geometry(0, 5, 5, 2, 2, 4), Geometry(2, 5, 0, 2, 2, 4),
                                       Geometry(2, 0, 5, 2, 1, 4, true)}) {
      const AttentionTensors t = RandomTensors({.g = g}, dice, DType::kBF16);
      const KernelResults r = Run(*kernels, g, t);
      for (const Tensor& zero : {r.y, r.dq.tensor, r.dk.tensor, r.dv.tensor}) {
        for (const double each : Values(zero)) REQUIRE(each == 0);
      }
    }
  }
}
