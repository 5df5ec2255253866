#include <cmath>
#include <string>
#include <vector>

#include "sdk/backend/onednn/simd/loops.h"
#include "tests/backend/onednn/onednn_support.h"
#include "tests/catch.h"

using namespace frugal;
using namespace frugal::testing;

namespace {

using Numbers = std::vector<double>;

// Every loop once, on [rows, columns] elements; all results one after another.
struct Outputs {
  Numbers dropout;  // compared bit by bit
  Numbers others;
  void Add(const Tensor& tensor) {
    const Numbers more = Values(tensor);
    others.insert(others.end(), more.begin(), more.end());
  }
};

void RunNorms(const simd::NormLoops<float>& loops, std::int64_t rows, std::int64_t columns,
              Outputs& out) {
  const Tensor x = RandomTensor({rows, columns}, 1), dy = RandomTensor({rows, columns}, 2);
  const Tensor a = RandomTensor({columns}, 3), b = RandomTensor({columns}, 4);
  const Tensor first = Full({columns}, NAN), second = Full({columns}, NAN);
  const Tensor y = Full({rows, columns}, NAN), mean = Full({rows}, 0), rstd = Full({rows}, 0);
  const auto of = [](const Tensor& t) { return t.data<float>(); };
  loops.column_moments(of(x), rows, columns, of(a), of(first), of(second));
  out.Add(first), out.Add(second);
  loops.normalize(of(x), rows, columns, of(a), of(b), of(a), true, of(y));
  out.Add(y);
  loops.gradient_moments(of(dy), of(x), {of(y)}, rows, columns, of(a), of(first), of(second));
  out.Add(first), out.Add(second);
  loops.normalize_gradient(of(dy), of(x), {of(y)}, rows, columns, of(a), of(b), of(a), of(b),
                           of(y));
  out.Add(y);
  loops.layer_forward(of(x), rows, columns, of(a), of(b), 1e-2f, of(y), of(mean), of(rstd));
  out.Add(y), out.Add(rstd);
  loops.layer_backward(of(dy), of(x), of(mean), of(rstd), of(a), rows, columns, of(y), of(first),
                       of(second));
  out.Add(y), out.Add(first), out.Add(second);
  loops.column_sums(of(x), rows, columns, of(first));
  out.Add(first);
  loops.rms_forward(of(x), rows, columns, of(a), 1e-2f, of(y), of(rstd));
  out.Add(y), out.Add(rstd);
  loops.rms_backward(of(dy), of(x), of(rstd), of(a), rows, columns, of(y), of(first));
  out.Add(y), out.Add(first);
}

// The instruction sets of loops beside the baseline that this processor has.
std::vector<const simd::Loops*> OtherLoops() {
  std::vector<const simd::Loops*> others = {&simd::SelectLoops()};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    others.push_back(&simd::Avx2Loops());
  }
  return others;
}

void RunRows(const simd::Loops& loops, std::int64_t n, Outputs& out) {
  const Tensor x = RandomTensor({n}, 5, DType::kF32, -9, 9), y = Full({n}, NAN);
  const Tensor m = Full({n}, 0.5), v = Full({n}, 0.5), parameter = RandomTensor({n}, 6);
  const float sum = loops.f32.row.log_sum_exp(x.data<float>(), n);
  out.others.push_back(static_cast<double>(sum));
  out.others.push_back(loops.f32.row.sum(x.data<float>(), n));
  loops.f32.row.cross_entropy_gradient(x.data<float>(), sum, 0.1f, 2.0f, y.data<float>(), n);
  out.Add(y);
  const simd::AdamFactors factors{0.9f, 0.99f, 0.1f, 0.01f, 1e-8f, 0.5f, 0.1f, 0.9f, 0.1f, 2.0f};
  loops.optimizer.adam(factors, x.data<float>(), m.data<float>(), v.data<float>(),
                       parameter.data<float>(), n);
  out.Add(m), out.Add(v), out.Add(parameter);
  out.others.push_back(loops.optimizer.sum_of_squares(x.data<float>(), n));
  loops.f32.elementwise.dropout(x.data<float>(), 77, 3, 1u << 22, 1.5f, y.data<float>(), n);
  out.dropout = Values(y);
}

Outputs RunAll(const simd::Loops& loops, std::int64_t rows, std::int64_t columns) {
  Outputs out;
  RunNorms(loops.f32.norm, rows, columns, out);
  RunRows(loops, rows * columns, out);
  return out;
}

}  // namespace

TEST_CASE("the loops of every instruction set that this processor has agree") {
  Dice dice(1);
  for (int round = 0; round < 40; ++round) {
    const std::int64_t rows = dice.Between(1, 70), columns = dice.Between(1, 140);
    CAPTURE(rows, columns);
    const Outputs expected = RunAll(simd::BaselineLoops(), rows, columns);
    for (const simd::Loops* loops : OtherLoops()) {
      const Outputs actual = RunAll(*loops, rows, columns);
      CHECK(RelativeError(actual.others, expected.others) < 1e-5);
      CHECK(actual.dropout == expected.dropout);
    }
  }
}

TEST_CASE("sums of parts are those of f64 in their order, to the bit, in every instruction set") {
  Dice dice(2);
  std::vector<const simd::Loops*> all = OtherLoops();
  all.push_back(&simd::BaselineLoops());
  for (int round = 0; round < 40; ++round) {
    const std::int64_t parts = dice.Between(1, 70), columns = dice.Between(1, 300);
    const std::int64_t stride = columns + dice.Between(0, 9);
    const bool accumulate = dice.Flip();
    const Tensor table = RandomTensor({parts * stride}, dice.Seed());
    const Tensor before = RandomTensor({columns}, dice.Seed());
    const float* const from = table.data<float>();
    CAPTURE(parts, columns, stride, accumulate);
    Tensor expected = Clone(before);
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = accumulate ? static_cast<double>(before.data<float>()[c]) : 0;
      for (std::int64_t p = 0; p < parts; ++p) sum += static_cast<double>(from[p * stride + c]);
      expected.data<float>()[c] = static_cast<float>(sum);
    }
    for (const simd::Loops* loops : all) {
      const Tensor sums = Clone(before);
      loops->f32.norm.add_parts(from, parts, stride, columns, accumulate, sums.data<float>());
      CHECK(SameBits(sums, expected));
    }
  }
}

TEST_CASE("rows of logits have their edges in every instruction set") {
  std::vector<const simd::Loops*> all = OtherLoops();
  all.push_back(&simd::BaselineLoops());
  for (const simd::Loops* loops : all) {
    const simd::RowLoops<float>& row = loops->f32.row;
    for (std::int64_t n = 1; n <= 150; ++n) {
      CAPTURE(n);
      // One that counts among those that are masked or far below.
      Tensor x = Full({n}, n % 2 == 0 ? -INFINITY : -3e38);
      const Tensor p = Full({n + 1}, 9);
      float* const last = x.data<float>() + n - 1;
      *last = 5;
      const float sum = row.log_sum_exp(x.data<float>(), n);
      CHECK(sum == 5.0f);
      row.cross_entropy_gradient(x.data<float>(), sum, 0, 1, p.data<float>(), n);
      for (std::int64_t i = 0; i < n - 1; ++i) CHECK(p.data<float>()[i] == 0.0f);
      CHECK(p.data<float>()[n - 1] == 1.0f);
      CHECK(p.data<float>()[n] == 9.0f);
      for (const float odd : {NAN, INFINITY}) {
        *last = odd;
        CHECK(std::isnan(row.log_sum_exp(x.data<float>(), n)));
      }
    }
  }
}
