#pragma once

#include "sdk/backend/sequence_kernels.h"

namespace frugal {

// Kernels of transformers and recurrent networks in f32 and f64, none of which needs scratch.
class EigenSequenceKernels : public SequenceKernels {
 public:
  // The tables may hold more positions than x. Leading axes of x beyond [T, row] count as batch.
  void Rotate(const RotaryGeometry& g, const Tensor& cosine, const Tensor& sine, bool inverse,
              const Tensor& x) override;

  void SineCosine(const Tensor& angles, bool cosine_first, const Tensor& y) override;
  // dangles may not overlap dy.
  void SineCosineBackward(const Tensor& dy, const Tensor& y, bool cosine_first,
                          const Tensor& dangles) override;
  void RotateBy(const Tensor& x, const Tensor& cosine, const Tensor& sine, bool transpose,
                const Tensor& y) override;
  void RotateByBackwardAngles(const Tensor& dy, const Tensor& x, const Tensor& dcosine,
                              const Tensor& dsine) override;

  // f has its usual parameter (DefaultParameter). dx may be x.
  void GatedForward(Activation f, bool gate_last, const Tensor& x, const Tensor& y) override;
  void GatedBackward(Activation f, bool gate_last, const Tensor& dy, const Tensor& x,
                     const Tensor& dx) override;

  // Sums in double precision. An empty dx or dweight is left out; dx may be dy, and y may be x.
  void RmsForward(const Tensor& x, const Tensor& weight, double epsilon, const Tensor& y,
                  const Tensor& rstd) override;
  std::int64_t RmsBackwardScratch(const Tensor& x) const override;
  void RmsBackward(const Tensor& dy, const Tensor& x, const Tensor& rstd, const Tensor& weight,
                   const Tensor& dx, const Tensor& dweight, bool accumulate,
                   void* scratch) override;

  // cell may be cell_before.
  void LstmForward(const Tensor& gates, const Tensor& cell_before, const Tensor& cell,
                   const Tensor& hidden) override;
  void LstmBackward(const Tensor& dhidden, const Tensor& gates, const Tensor& cell_before,
                    const Tensor& cell, const Tensor& dcell, const Tensor& dgates) override;
  // Kept for backward are the gates' values in from_input; from_hidden keeps its third part, the
  // new gate's, as it came. hidden may be hidden_before where backward is not wanted.
  void GruForward(const Tensor& from_input, const Tensor& from_hidden, const Tensor& hidden_before,
                  const Tensor& hidden) override;
  // dhidden_before may be dhidden.
  void GruBackward(const Tensor& dhidden, const Tensor& from_input, const Tensor& from_hidden,
                   const Tensor& hidden_before, const Tensor& dhidden_before) override;
};

}  // namespace frugal
