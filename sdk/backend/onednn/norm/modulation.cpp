#include "sdk/backend/onednn/norm/modulation.h"

#include "sdk/backend/onednn/norm/sample_chunks.h"
#include "sdk/backend/onednn/operation/element_type.h"

namespace frugal {
namespace {

using onednn::IsFast;
using onednn::SampleChunks;
using Part = SampleChunks::Part;

// to = from + plus, in f32; `plus` alone where there is no tensor
template <class T>
void Widen(const Tensor& from, float plus, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = (from ? static_cast<float>(from.data<T>()[i]) : 0.0F) + plus;
  }
}

// Backward of one part, while it is in the caches. Sums first: dx may be dy.
template <class T>
struct BackwardPass {
  const simd::NormLoops<T>& loops;
  std::int64_t columns;
  SampleChunks::Tables tables;

  // sums = those of dy, products = those of dy x (if there is x)
  void FindSums(const Part& part, const Tensor& dy, const Tensor& x) const {
    const std::int64_t at = part.row * columns;
    float* const sums = tables.sums + part.number * columns;
    if (!x) return loops.column_sums(dy.data<T>() + at, part.rows, columns, sums);
    loops.gradient_moments(dy.data<T>() + at, x.data<T>() + at, {}, part.rows, columns,
                           tables.zeros, sums, tables.products + part.number * columns);
  }
  // dx = dy factors
  void Scale(const Part& part, const Tensor& dy, const Tensor& dx) const {
    const std::int64_t at = part.row * columns;
    loops.normalize(dy.data<T>() + at, part.rows, columns, tables.zeros,
                    tables.factors + part.sample * columns, tables.zeros, false, dx.data<T>() + at);
  }
};

template <class T>
void StoreSums(const SampleChunks& parts, const float* table, const Tensor& to) {
  if (!to) return;
  parts.ForColumns([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = 0; sample < parts.samples(); ++sample) {
      T* const row = to.data<T>() + sample * parts.columns();
      for (std::int64_t c = begin; c < end; ++c) {
        row[c] = static_cast<T>(static_cast<float>(parts.AddUp(table, sample, c)));
      }
    }
  });
}

}  // namespace

std::int64_t OneDnnModulationKernels::ModulateScratch(const Tensor& x) const {
  return IsFast(x) ? SampleChunks(x).ScratchBytes() : 0;
}

void OneDnnModulationKernels::Modulate(const Tensor& x, const Tensor& shift, const Tensor& scale,
                                       const Tensor& y, void* scratch) {
  if (!IsFast(x)) return EigenModulationKernels::Modulate(x, shift, scale, y, scratch);
  const SampleChunks parts(x);
  const std::int64_t columns = parts.columns();
  const auto tables = parts.In(scratch);
  onednn::WithElement(x.dtype(), [&]<class T>() {
    Widen<T>(scale, 1, parts.samples() * columns, tables.factors);
    if (shift) Widen<T>(shift, 0, shift.size(), tables.offsets);
    parts.ForEach([&](const Part& part) {
      const std::int64_t at = part.row * columns;
      const std::int64_t sample = part.sample * columns;
      loops_.Of<T>().norm.normalize(
          x.data<T>() + at, part.rows, columns, tables.zeros, tables.factors + sample,
          shift ? tables.offsets + sample : tables.zeros, false, y.data<T>() + at);
    });
  });
}

void OneDnnModulationKernels::ModulateBackward(const Tensor& dy, const Tensor& x,
                                               const Tensor& scale, const Tensor& dx,
                                               const Tensor& dshift, const Tensor& dscale,
                                               void* scratch) {
  if (!IsFast(dy)) {
    return EigenModulationKernels::ModulateBackward(dy, x, scale, dx, dshift, dscale, scratch);
  }
  const SampleChunks parts(dy);
  const auto tables = parts.In(scratch);
  onednn::WithElement(dy.dtype(), [&]<class T>() {
    const BackwardPass<T> pass{loops_.Of<T>().norm, parts.columns(), tables};
    if (dx) Widen<T>(scale, 1, parts.samples() * parts.columns(), tables.factors);
    parts.ForEach([&](const Part& part) {
      if (dshift || dscale) pass.FindSums(part, dy, dscale ? x : Tensor());
      if (dx) pass.Scale(part, dy, dx);
    });
    StoreSums<T>(parts, tables.sums, dshift);
    StoreSums<T>(parts, tables.products, dscale);
  });
}

std::int64_t OneDnnModulationKernels::GatedAddScratch(const Tensor& x) const {
  return IsFast(x) ? SampleChunks(x).ScratchBytes() : 0;
}

void OneDnnModulationKernels::GatedAdd(const Tensor& x, const Tensor& gate, const Tensor& residual,
                                       const Tensor& y, void* scratch) {
  if (!IsFast(x)) return EigenModulationKernels::GatedAdd(x, gate, residual, y, scratch);
  const SampleChunks parts(x);
  const std::int64_t columns = parts.columns();
  const auto tables = parts.In(scratch);
  onednn::WithElement(x.dtype(), [&]<class T>() {
    Widen<T>(gate, 0, gate.size(), tables.factors);
    parts.ForEach([&](const Part& part) {
      const std::int64_t at = part.row * columns;
      // 1 residual + (gate (x - 0) + 0)
      loops_.Of<T>().norm.normalize_gradient(
          residual.data<T>() + at, x.data<T>() + at, {}, part.rows, columns, tables.zeros,
          tables.ones, tables.factors + part.sample * columns, tables.zeros, y.data<T>() + at);
    });
  });
}

void OneDnnModulationKernels::GatedAddBackward(const Tensor& dy, const Tensor& x,
                                               const Tensor& gate, const Tensor& dx,
                                               const Tensor& dgate, void* scratch) {
  if (!IsFast(x)) return EigenModulationKernels::GatedAddBackward(dy, x, gate, dx, dgate, scratch);
  const SampleChunks parts(x);
  const auto tables = parts.In(scratch);
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const BackwardPass<T> pass{loops_.Of<T>().norm, parts.columns(), tables};
    if (dx) Widen<T>(gate, 0, gate.size(), tables.factors);
    parts.ForEach([&](const Part& part) {
      if (dgate) pass.FindSums(part, dy, x);
      if (dx) pass.Scale(part, dy, dx);
    });
    StoreSums<T>(parts, tables.products, dgate);
  });
}

}  // namespace frugal
