#include "sdk/capture/verify/error_measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sdk/core/bfloat16.h"

namespace frugal {
namespace {

double AsDouble(float value) { return value; }
double AsDouble(double value) { return value; }
double AsDouble(BFloat16 value) { return static_cast<float>(value); }
double AsDouble(std::int64_t value) { return static_cast<double>(value); }
double AsDouble(std::int32_t value) { return value; }
double AsDouble(std::uint8_t value) { return value; }

// Calls use(pointer) with the tensor's elements.
template <class Use>
void WithElements(const Tensor& tensor, const Use& use) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return use(tensor.data<float>());
    case DType::kF64:
      return use(tensor.data<double>());
    case DType::kBF16:
      return use(tensor.data<BFloat16>());
    case DType::kI64:
      return use(tensor.data<std::int64_t>());
    case DType::kU8:
      return use(tensor.data<std::uint8_t>());
    case DType::kI32:
      return use(tensor.data<std::int32_t>());
  }
}

// The place of a number among all of its type, in order.
std::int64_t PlaceOf(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits : bits;
}
std::int64_t PlaceOf(BFloat16 value) {
  const auto bits = static_cast<std::int16_t>(value.bits);
  return bits < 0 ? std::int64_t{std::numeric_limits<std::int16_t>::min()} - bits : bits;
}

// Returns 0 of two types, and of types whose steps are not counted.
template <class A, class B>
std::int64_t StepsBetween(A a, B b) {
  if constexpr (std::is_same_v<A, B> && (std::is_same_v<A, float> || std::is_same_v<A, BFloat16>)) {
    return std::abs(PlaceOf(a) - PlaceOf(b));
  } else {
    return 0;
  }
}

bool SameBits(const Tensor& a, const Tensor& b) {
  const auto* left = static_cast<const std::byte*>(a.raw());
  const auto* right = static_cast<const std::byte*>(b.raw());
  return a.bytes() == b.bytes() && std::equal(left, left + a.bytes(), right);
}

void Add(double got, double wanted, ErrorMeasure& m) {
  if (!std::isfinite(got) || !std::isfinite(wanted)) {
    const bool same = std::isnan(got) ? std::isnan(wanted) : got == wanted;
    m.not_finite += same ? 0 : 1;
    return;
  }
  const double difference = std::abs(got - wanted);
  m.largest = std::max(m.largest, difference);
  m.scale = std::max(m.scale, std::abs(wanted));
  m.squares += difference * difference;
  m.wanted_squares += wanted * wanted;
}

}  // namespace

double ErrorMeasure::relative() const {
  if (largest == 0) return 0;
  return scale > 0 ? largest / scale : std::numeric_limits<double>::infinity();
}

double ErrorMeasure::rms() const {
  if (squares == 0) return 0;
  return wanted_squares > 0 ? std::sqrt(squares / wanted_squares)
                            : std::numeric_limits<double>::infinity();
}

void Measure(const Tensor& got, const Tensor& wanted, ErrorMeasure& measure) {
  measure.count += wanted.size();
  if (got.size() != wanted.size()) {
    measure.not_finite += std::max(got.size(), wanted.size());
    measure.same_bits = false;
    return;
  }
  if (wanted.size() == 0) return;
  const bool one_type = got.dtype() == wanted.dtype();
  if (one_type && SameBits(got, wanted)) {
    WithElements(wanted, [&]<class T>(const T* numbers) {
      for (std::int64_t i = 0; i < wanted.size(); ++i) {
        const double value = AsDouble(numbers[i]);
        if (std::isfinite(value)) Add(value, value, measure);
      }
    });
    return;
  }
  measure.same_bits = false;
  WithElements(got, [&]<class G>(const G* gots) {
    WithElements(wanted, [&]<class W>(const W* wanteds) {
      for (std::int64_t i = 0; i < wanted.size(); ++i) {
        const double a = AsDouble(gots[i]), b = AsDouble(wanteds[i]);
        Add(a, b, measure);
        if (std::isfinite(a) && std::isfinite(b)) {
          measure.ulp = std::max(measure.ulp, StepsBetween(gots[i], wanteds[i]));
        }
      }
    });
  });
}

double LargestMagnitude(const Tensor& tensor) {
  double largest = 0;
  if (tensor.dtype() == DType::kI64 || tensor.dtype() == DType::kU8) return largest;
  WithElements(tensor, [&]<class T>(const T* numbers) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const double value = std::abs(AsDouble(numbers[i]));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
  });
  return largest;
}

double EpsilonOf(DType dtype) {
  if (dtype == DType::kBF16) return 1.0 / 128;
  return dtype == DType::kF64 ? std::numeric_limits<double>::epsilon()
                              : static_cast<double>(std::numeric_limits<float>::epsilon());
}

Tolerance ToleranceOf(std::string_view kernel, DType dtype) {
  const double epsilon = EpsilonOf(dtype);
  struct Row {
    std::string_view begin;
    double floor, ceiling;  // in steps of f32
  };
  // Sums of many products, and methods that trade some digits for speed (Winograd), come first.
  // bf16 rounds what it stores, so its errors are fewer of its much larger steps.
  static constexpr Row kRows[] = {
      {"conv_", 128, 8192},     {"linear_", 64, 8192}, {"batched_product", 64, 8192},
      {"attention_", 64, 8192}, {"norm_", 64, 8192},   {"modul", 64, 8192},
      {"rms_", 64, 8192},       {"gather", 0, 0},      {"copy", 0.5, 0.5},
      {"permute", 0, 0},        {"pool_max", 0, 0},    {"", 16, 4096},
  };
  for (const Row& row : kRows) {
    if (!kernel.starts_with(row.begin)) continue;
    if (dtype != DType::kBF16) return {row.floor * epsilon, row.ceiling * epsilon, 16};
    const bool exact = row.ceiling == 0;
    return {exact ? 0 : 1.5 * epsilon, exact ? 0 : 16 * epsilon, 4};
  }
  return {};
}

}  // namespace frugal
