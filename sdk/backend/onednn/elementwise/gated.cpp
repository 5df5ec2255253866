#include <algorithm>
#include <array>

#include "sdk/backend/common/activation_range.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/elementwise/sequence.h"
#include "sdk/backend/onednn/operation/element_type.h"

namespace frugal {
namespace {

using onednn::IsFast;

// Elements whose values in f32 stay in the first-level cache.
constexpr std::int64_t kBlock = 256;
struct Block {
  std::array<float, static_cast<std::size_t>(kBlock)> values;
  float* data() { return values.data(); }
};

// body(offset in the row of y, offset in the first half of x's row, elements), in parallel
template <class Body>
void ForEachPart(const Tensor& y, std::int64_t most, const Body& body) {
  const std::int64_t width = y.shape().back();
  eigen::ParallelFor(
      y.shape().RowCount(), eigen::RowsPerChunk(width), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          for (std::int64_t first = 0; first < width; first += most) {
            body(row * width + first, 2 * row * width + first, std::min(most, width - first));
          }
        }
      });
}

// Functions that have no loop of their own, bf16 only: block by block in f32.
void ForwardBlock(const simd::ConversionLoops& convert, Activation f, const BFloat16* gate,
                  const BFloat16* value, BFloat16* y, std::int64_t count) {
  Block gates, values;
  convert.widen(gate, gates.data(), count);
  convert.widen(value, values.data(), count);
  eigen::ActivateRange(f, DefaultParameter(f), gates.data(), gates.data(), count);
  for (std::int64_t i = 0; i < count; ++i) values.data()[i] *= gates.data()[i];
  convert.narrow(values.data(), y, count);
}

void BackwardBlock(const simd::ConversionLoops& convert, Activation f, const BFloat16* dy,
                   const BFloat16* gate, const BFloat16* value, BFloat16* dgate, BFloat16* dvalue,
                   std::int64_t count) {
  Block gates, values, activated, gradient;
  convert.widen(gate, gates.data(), count);
  convert.widen(value, values.data(), count);
  convert.widen(dy, gradient.data(), count);
  const double parameter = DefaultParameter(f);
  eigen::ActivateRange(f, parameter, gates.data(), activated.data(), count);
  for (std::int64_t i = 0; i < count; ++i) values.data()[i] *= gradient.data()[i];
  const float* const kept = DerivesFromOutput(f) ? activated.data() : gates.data();
  eigen::ActivateGradientRange<float>(f, parameter, values.data(), kept, values.data(), count);
  for (std::int64_t i = 0; i < count; ++i) gradient.data()[i] *= activated.data()[i];
  convert.narrow(values.data(), dgate, count);
  convert.narrow(gradient.data(), dvalue, count);
}

}  // namespace

void OneDnnSequenceKernels::GatedForward(Activation f, bool gate_last, const Tensor& x,
                                         const Tensor& y) {
  if (x.size() == 0) return;
  const std::int64_t width = y.shape().back();
  const std::int64_t gate = gate_last ? width : 0;
  const std::int64_t value = width - gate;
  const bool is_bf16 = x.dtype() == DType::kBF16;
  if (!is_bf16 &&
      (!IsFast(x) || loops_.f32.gated.forward[static_cast<std::size_t>(f)] == nullptr)) {
    return EigenSequenceKernels::GatedForward(f, gate_last, x, y);
  }
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const auto loop = loops_.Of<T>().gated.forward[static_cast<std::size_t>(f)];
    const std::int64_t most = loop != nullptr ? width : kBlock;
    ForEachPart(y, most, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      const T* in = x.data<T>() + from;
      if (loop != nullptr) return loop(in + gate, in + value, y.data<T>() + to, count);
      if constexpr (std::is_same_v<T, BFloat16>) {
        ForwardBlock(loops_.conversion, f, in + gate, in + value, y.data<T>() + to, count);
      }
    });
  });
}

void OneDnnSequenceKernels::GatedBackward(Activation f, bool gate_last, const Tensor& dy,
                                          const Tensor& x, const Tensor& dx) {
  if (x.size() == 0) return;
  const std::int64_t width = dy.shape().back();
  const std::int64_t gate = gate_last ? width : 0;
  const std::int64_t value = width - gate;
  const bool is_bf16 = x.dtype() == DType::kBF16;
  if (!is_bf16 &&
      (!IsFast(x) || loops_.f32.gated.backward[static_cast<std::size_t>(f)] == nullptr)) {
    return EigenSequenceKernels::GatedBackward(f, gate_last, dy, x, dx);
  }
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const auto loop = loops_.Of<T>().gated.backward[static_cast<std::size_t>(f)];
    const std::int64_t most = loop != nullptr ? width : kBlock;
    ForEachPart(dy, most, [&](std::int64_t at, std::int64_t from, std::int64_t count) {
      const T *g = dy.data<T>() + at, *in = x.data<T>() + from;
      T* out = dx.data<T>() + from;
      if (loop != nullptr) {
        return loop(g, in + gate, in + value, out + gate, out + value, count);
      }
      if constexpr (std::is_same_v<T, BFloat16>) {
        BackwardBlock(loops_.conversion, f, g, in + gate, in + value, out + gate, out + value,
                      count);
      }
    });
  });
}

}  // namespace frugal
