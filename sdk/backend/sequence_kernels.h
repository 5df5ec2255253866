#pragma once

#include <cstdint>

#include "sdk/backend/activation.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// How rotary position embedding pairs the elements of a head (Su et al., arXiv:2104.09864).
enum class RotaryPairing : std::uint8_t {
  kHalves,      // (i, i + d/2), as Llama's public code
  kNeighbours,  // (2i, 2i + 1), as the paper
};

// x [B, T, row]: heads of `head_size` elements, `heads` of them, from `offset` on in each row; the
// first `rotary_size` elements of a head are rotated. cosine, sine [T, rotary_size / 2].
struct RotaryGeometry {
  std::int64_t offset = 0;
  std::int64_t heads = 1;
  std::int64_t head_size = 2;
  std::int64_t rotary_size = 2;
  RotaryPairing pairing = RotaryPairing::kHalves;
};

// Kernels of transformers and recurrent networks that are no products.
class SequenceKernels {
 public:
  virtual ~SequenceKernels() = default;

  // Turns in place, by the angle or, with `inverse` (backward), against it.
  virtual void Rotate(const RotaryGeometry& g, const Tensor& cosine, const Tensor& sine,
                      bool inverse, const Tensor& x) = 0;

  // Sines and cosines of angles [..., K], side by side in y [..., 2K].
  virtual void SineCosine(const Tensor& angles, bool cosine_first, const Tensor& y) = 0;
  virtual void SineCosineBackward(const Tensor& dy, const Tensor& y, bool cosine_first,
                                  const Tensor& dangles) = 0;

  // Turns the neighbouring pairs of x [N, T, H, d] by angles of their own for each position and
  // head: cosine, sine [T, H, d / 2] need not belong together. With `transpose` (backward towards
  // x) each pair is multiplied by the transposed matrix. y may be x.
  virtual void RotateBy(const Tensor& x, const Tensor& cosine, const Tensor& sine, bool transpose,
                        const Tensor& y) = 0;
  // Their gradients, summed over N.
  virtual void RotateByBackwardAngles(const Tensor& dy, const Tensor& x, const Tensor& dcosine,
                                      const Tensor& dsine) = 0;

  // y [M, F] = f(x[:, :F]) * x[:, F:], x [M, 2F] (Shazeer, arXiv:2002.05202); with `gate_last` the
  // halves change places.
  virtual void GatedForward(Activation f, bool gate_last, const Tensor& x, const Tensor& y) = 0;
  virtual void GatedBackward(Activation f, bool gate_last, const Tensor& dy, const Tensor& x,
                             const Tensor& dx) = 0;

  // y = x / sqrt(mean(x^2) + epsilon) * weight over rows of x [M, D] (Zhang & Sennrich,
  // arXiv:1910.07467); weight [D] or none; rstd [M].
  virtual void RmsForward(const Tensor& x, const Tensor& weight, double epsilon, const Tensor& y,
                          const Tensor& rstd) = 0;
  virtual std::int64_t RmsBackwardScratch(const Tensor& x) const = 0;
  virtual void RmsBackward(const Tensor& dy, const Tensor& x, const Tensor& rstd,
                           const Tensor& weight, const Tensor& dx, const Tensor& dweight,
                           bool accumulate, void* scratch) = 0;

  // One step of an LSTM in PyTorch's gate order (input, forget, cell, output). gates [N, 4H] are
  // the sums of both products and biases and are overwritten with the gates' values, which
  // backward reads; cell_before, cell, hidden [N, H].
  virtual void LstmForward(const Tensor& gates, const Tensor& cell_before, const Tensor& cell,
                           const Tensor& hidden) = 0;
  // dgates may be gates. dcell holds the gradient from the next step and is overwritten with that
  // for the step before.
  virtual void LstmBackward(const Tensor& dhidden, const Tensor& gates, const Tensor& cell_before,
                            const Tensor& cell, const Tensor& dcell, const Tensor& dgates) = 0;
  // One step of a GRU in PyTorch's order (reset, update, new): from_input and from_hidden [N, 3H]
  // with their biases; both are overwritten with what backward reads.
  virtual void GruForward(const Tensor& from_input, const Tensor& from_hidden,
                          const Tensor& hidden_before, const Tensor& hidden) = 0;
  // Writes the gradients of both products' outputs in place, and of hidden_before's direct way.
  virtual void GruBackward(const Tensor& dhidden, const Tensor& from_input,
                           const Tensor& from_hidden, const Tensor& hidden_before,
                           const Tensor& dhidden_before) = 0;
};

}  // namespace frugal
