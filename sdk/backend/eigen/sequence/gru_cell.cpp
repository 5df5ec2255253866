#include "sdk/backend/common/activation_math.h"
#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

// The parts of one row [3H].
template <class T>
struct Gates {
  Gates(T* row, std::int64_t width) : reset(row), update(row + width), fresh(row + 2 * width) {}

  T* reset;
  T* update;
  T* fresh;  // "new"
};

// new = tanh(input's + reset * hidden's); h = (1 - update) new + update h_before
template <class T>
void ForwardRow(const Gates<T>& input, const Gates<T>& hidden_part, const T* hidden_before,
                T* hidden, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) {
    const T reset = Sigmoid(input.reset[j] + hidden_part.reset[j]);
    const T update = Sigmoid(input.update[j] + hidden_part.update[j]);
    const T fresh = std::tanh(input.fresh[j] + reset * hidden_part.fresh[j]);
    input.reset[j] = reset;
    input.update[j] = update;
    input.fresh[j] = fresh;
    hidden[j] = fresh + update * (hidden_before[j] - fresh);
  }
}

template <class T>
void BackwardRow(const T* dhidden, const Gates<T>& input, const Gates<T>& hidden_part,
                 const T* hidden_before, T* dhidden_before, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) {
    const T reset = input.reset[j];
    const T update = input.update[j];
    const T fresh = input.fresh[j];
    const T dfresh = dhidden[j] * (T{1} - update) * (T{1} - fresh * fresh);
    const T dreset = dfresh * hidden_part.fresh[j] * reset * (T{1} - reset);
    const T dupdate = dhidden[j] * (hidden_before[j] - fresh) * update * (T{1} - update);
    input.reset[j] = dreset;
    input.update[j] = dupdate;
    input.fresh[j] = dfresh;
    hidden_part.reset[j] = dreset;
    hidden_part.update[j] = dupdate;
    hidden_part.fresh[j] = dfresh * reset;
    dhidden_before[j] = dhidden[j] * update;
  }
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::GruForward(const Tensor& from_input, const Tensor& from_hidden,
                                      const Tensor& hidden_before, const Tensor& hidden) {
  const std::int64_t width = hidden.shape().back();
  eigen::WithFloating("gru", hidden.dtype(), [&]<class T>() {
    eigen::ParallelFor(hidden.shape().RowCount(), eigen::RowsPerChunk(3 * width),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const std::int64_t at = row * width;
                           eigen::ForwardRow<T>({from_input.data<T>() + 3 * at, width},
                                                {from_hidden.data<T>() + 3 * at, width},
                                                hidden_before.data<T>() + at, hidden.data<T>() + at,
                                                width);
                         }
                       });
  });
}

void EigenSequenceKernels::GruBackward(const Tensor& dhidden, const Tensor& from_input,
                                       const Tensor& from_hidden, const Tensor& hidden_before,
                                       const Tensor& dhidden_before) {
  const std::int64_t width = dhidden.shape().back();
  eigen::WithFloating("gru backward", dhidden.dtype(), [&]<class T>() {
    eigen::ParallelFor(dhidden.shape().RowCount(), eigen::RowsPerChunk(3 * width),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const std::int64_t at = row * width;
                           eigen::BackwardRow<T>(
                               dhidden.data<T>() + at, {from_input.data<T>() + 3 * at, width},
                               {from_hidden.data<T>() + 3 * at, width},
                               hidden_before.data<T>() + at, dhidden_before.data<T>() + at, width);
                         }
                       });
  });
}

}  // namespace frugal
