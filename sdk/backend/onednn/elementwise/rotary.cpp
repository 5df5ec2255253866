#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/elementwise/sequence.h"
#include "sdk/backend/onednn/operation/element_type.h"

namespace frugal {

using onednn::IsFast;

void OneDnnSequenceKernels::Rotate(const RotaryGeometry& g, const Tensor& cosine,
                                   const Tensor& sine, bool inverse, const Tensor& x) {
  if (x.size() == 0) return;
  if (!IsFast(x)) return EigenSequenceKernels::Rotate(g, cosine, sine, inverse, x);
  const std::int64_t row_size = x.shape().back();
  const std::int64_t positions = x.shape()[x.shape().rank() - 2];
  const std::int64_t pairs = g.rotary_size / 2;
  const float sign = inverse ? -1.0F : 1.0F;
  onednn::WithElement(x.dtype(), [&]<class T>() {
    const auto& loops = loops_.Of<T>().rotary;
    const auto rotate =
        g.pairing == RotaryPairing::kHalves ? loops.rotate_halves : loops.rotate_neighbours;
    eigen::ParallelFor(x.shape().RowCount(), eigen::RowsPerChunk(g.heads * g.rotary_size),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const std::int64_t table = row % positions * pairs;
                           T* head = x.data<T>() + row * row_size + g.offset;
                           for (std::int64_t h = 0; h < g.heads; ++h, head += g.head_size) {
                             rotate(head, cosine.data<float>() + table, sine.data<float>() + table,
                                    sign, pairs, head);
                           }
                         }
                       });
  });
}

void OneDnnSequenceKernels::RotateBy(const Tensor& x, const Tensor& cosine, const Tensor& sine,
                                     bool transpose, const Tensor& y) {
  if (x.size() == 0) return;
  if (!IsFast(x)) return EigenSequenceKernels::RotateBy(x, cosine, sine, transpose, y);
  const std::int64_t pairs = cosine.size();  // of one sample
  onednn::WithElement(x.dtype(), [&]<class T>() {
    for (std::int64_t n = 0; n < x.shape()[0]; ++n) {
      eigen::ParallelFor(pairs, eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t at = 2 * (n * pairs + begin);
        loops_.Of<T>().rotary.rotate_neighbours(
            x.data<T>() + at, cosine.data<float>() + begin, sine.data<float>() + begin,
            transpose ? -1.0F : 1.0F, end - begin, y.data<T>() + at);
      });
    }
  });
}

void OneDnnSequenceKernels::RotateByBackwardAngles(const Tensor& dy, const Tensor& x,
                                                   const Tensor& dcosine, const Tensor& dsine) {
  if (!IsFast(x)) return EigenSequenceKernels::RotateByBackwardAngles(dy, x, dcosine, dsine);
  const std::int64_t pairs = dcosine.size();
  onednn::WithElement(x.dtype(), [&]<class T>() {
    eigen::ParallelFor(pairs, eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
      float* const along = dcosine.data<float>() + begin;
      float* const across = dsine.data<float>() + begin;
      std::fill_n(along, end - begin, 0.0F);
      std::fill_n(across, end - begin, 0.0F);
      for (std::int64_t n = 0; n < x.shape()[0]; ++n) {
        const std::int64_t at = 2 * (n * pairs + begin);
        loops_.Of<T>().rotary.add_angle_gradients(dy.data<T>() + at, x.data<T>() + at, end - begin,
                                                  along, across);
      }
    });
  });
}

}  // namespace frugal
