#include "sdk/backend/eigen/norm/modulation.h"

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/norm/sample_rows.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
void ScaleRows(const Tensor& x, const Tensor& shift, const Tensor& scale, const Tensor& y) {
  const SampleRows rows(x);
  rows.ForEachRow([&](std::int64_t at, std::int64_t sample) {
    const T* from = x.data<T>() + at;
    const T* factor = scale ? scale.data<T>() + sample : nullptr;
    const T* offset = shift ? shift.data<T>() + sample : nullptr;
    T* to = y.data<T>() + at;
    for (std::int64_t c = 0; c < rows.columns; ++c) {
      to[c] = from[c] * (T{1} + (factor != nullptr ? factor[c] : T{0})) +
              (offset != nullptr ? offset[c] : T{0});
    }
  });
}

// dshift = the sums of dy, dfactor = those of dy x
template <class T>
void SumFactors(const Tensor& dy, const Tensor& x, const Tensor& dshift, const Tensor& dfactor) {
  const SampleRows rows(dy);
  rows.SumRows<2>(
      [&](std::int64_t row, std::int64_t column, auto& sums) {
        const std::int64_t at = row * rows.columns + column;
        const auto g = static_cast<double>(dy.data<T>()[at]);
        sums[0] += g;
        if (dfactor) sums[1] += g * static_cast<double>(x.data<T>()[at]);
      },
      [&](std::int64_t sample, std::int64_t column, const auto& sums) {
        const std::int64_t at = sample * rows.columns + column;
        if (dshift) dshift.data<T>()[at] = static_cast<T>(sums[0]);
        if (dfactor) dfactor.data<T>()[at] = static_cast<T>(sums[1]);
      });
}

template <class T>
void AddGated(const Tensor& x, const Tensor& gate, const Tensor& residual, const Tensor& y) {
  const SampleRows rows(x);
  rows.ForEachRow([&](std::int64_t at, std::int64_t sample) {
    const T *from = x.data<T>() + at, *factor = gate.data<T>() + sample;
    const T* kept = residual ? residual.data<T>() + at : nullptr;
    T* to = y.data<T>() + at;
    for (std::int64_t c = 0; c < rows.columns; ++c) {
      to[c] = (kept != nullptr ? kept[c] : T{0}) + factor[c] * from[c];
    }
  });
}

}  // namespace
}  // namespace eigen

std::int64_t EigenModulationKernels::ModulateScratch(const Tensor& /*x*/) const { return 0; }

void EigenModulationKernels::Modulate(const Tensor& x, const Tensor& shift, const Tensor& scale,
                                      const Tensor& y, void* /*scratch*/) {
  eigen::WithFloating("modulation", x.dtype(),
                      [&]<class T>() { eigen::ScaleRows<T>(x, shift, scale, y); });
}

void EigenModulationKernels::ModulateBackward(const Tensor& dy, const Tensor& x,
                                              const Tensor& scale, const Tensor& dx,
                                              const Tensor& dshift, const Tensor& dscale,
                                              void* /*scratch*/) {
  eigen::WithFloating("modulation backward", dy.dtype(), [&]<class T>() {
    // The sums first: dx may take the place of dy.
    if (dshift || dscale) eigen::SumFactors<T>(dy, x, dshift, dscale);
    if (dx) eigen::ScaleRows<T>(dy, {}, scale, dx);
  });
}

std::int64_t EigenModulationKernels::GatedAddScratch(const Tensor& /*x*/) const { return 0; }

void EigenModulationKernels::GatedAdd(const Tensor& x, const Tensor& gate, const Tensor& residual,
                                      const Tensor& y, void* /*scratch*/) {
  eigen::WithFloating("gated sum", x.dtype(),
                      [&]<class T>() { eigen::AddGated<T>(x, gate, residual, y); });
}

void EigenModulationKernels::GatedAddBackward(const Tensor& dy, const Tensor& x, const Tensor& gate,
                                              const Tensor& dx, const Tensor& dgate,
                                              void* /*scratch*/) {
  eigen::WithFloating("gated sum backward", x.dtype(), [&]<class T>() {
    if (dgate) eigen::SumFactors<T>(dy, x, {}, dgate);
    if (dx) eigen::AddGated<T>(dy, gate, {}, dx);
  });
}

}  // namespace frugal
