#include "sdk/backend/common/activation_math.h"
#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/sequence/sequence.h"

namespace frugal {
namespace eigen {
namespace {

// The parts of one row of gates [4H].
template <class T>
struct Gates {
  Gates(T* row, std::int64_t width)
      : input(row), forget(row + width), candidate(row + 2 * width), output(row + 3 * width) {}

  T* input;
  T* forget;
  T* candidate;
  T* output;
};

// c = forget c_before + input candidate; h = output tanh(c)
template <class T>
void ForwardRow(const Gates<T>& gates, const T* cell_before, T* cell, T* hidden,
                std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) {
    const T input = Sigmoid(gates.input[j]);
    const T forget = Sigmoid(gates.forget[j]);
    const T candidate = std::tanh(gates.candidate[j]);
    const T output = Sigmoid(gates.output[j]);
    const T c = forget * cell_before[j] + input * candidate;
    gates.input[j] = input;
    gates.forget[j] = forget;
    gates.candidate[j] = candidate;
    gates.output[j] = output;
    cell[j] = c;
    hidden[j] = output * std::tanh(c);
  }
}

template <class T>
void BackwardRow(const T* dhidden, const Gates<T>& gates, const T* cell_before, const T* cell,
                 T* dcell, const Gates<T>& dgates, std::int64_t width) {
  for (std::int64_t j = 0; j < width; ++j) {
    const T input = gates.input[j];
    const T forget = gates.forget[j];
    const T candidate = gates.candidate[j];
    const T output = gates.output[j];
    const T t = std::tanh(cell[j]);
    const T dc = dcell[j] + dhidden[j] * output * (T{1} - t * t);
    dgates.input[j] = dc * candidate * input * (T{1} - input);
    dgates.forget[j] = dc * cell_before[j] * forget * (T{1} - forget);
    dgates.candidate[j] = dc * input * (T{1} - candidate * candidate);
    dgates.output[j] = dhidden[j] * t * output * (T{1} - output);
    dcell[j] = dc * forget;
  }
}

}  // namespace
}  // namespace eigen

void EigenSequenceKernels::LstmForward(const Tensor& gates, const Tensor& cell_before,
                                       const Tensor& cell, const Tensor& hidden) {
  const std::int64_t width = hidden.shape().back();
  eigen::WithFloating("lstm", hidden.dtype(), [&]<class T>() {
    eigen::ParallelFor(hidden.shape().RowCount(), eigen::RowsPerChunk(4 * width),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const std::int64_t at = row * width;
                           eigen::ForwardRow<T>({gates.data<T>() + 4 * at, width},
                                                cell_before.data<T>() + at, cell.data<T>() + at,
                                                hidden.data<T>() + at, width);
                         }
                       });
  });
}

void EigenSequenceKernels::LstmBackward(const Tensor& dhidden, const Tensor& gates,
                                        const Tensor& cell_before, const Tensor& cell,
                                        const Tensor& dcell, const Tensor& dgates) {
  const std::int64_t width = dhidden.shape().back();
  eigen::WithFloating("lstm backward", dhidden.dtype(), [&]<class T>() {
    eigen::ParallelFor(dhidden.shape().RowCount(), eigen::RowsPerChunk(4 * width),
                       [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                           const std::int64_t at = row * width;
                           eigen::BackwardRow<T>(
                               dhidden.data<T>() + at, {gates.data<T>() + 4 * at, width},
                               cell_before.data<T>() + at, cell.data<T>() + at,
                               dcell.data<T>() + at, {dgates.data<T>() + 4 * at, width}, width);
                         }
                       });
  });
}

}  // namespace frugal
