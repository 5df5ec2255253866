#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/onednn/norm/modulation.h"
#include "sdk/backend/onednn/norm/sample_chunks.h"
#include "sdk/backend/onednn/operation/element_type.h"

namespace frugal {
namespace {

using eigen::DataOrNull;
using onednn::DataAt;
using onednn::IsFast;
using onednn::SampleChunks;
using Part = SampleChunks::Part;

float ValueOr(const float* values, std::int64_t index, float otherwise) {
  return values != nullptr ? values[index] : otherwise;
}

template <class T>
float At(const Tensor& values, std::int64_t index) {
  return values ? static_cast<float>(values.data<T>()[index]) : 0.0F;
}

// (xhat weight + bias) (1 + scale) + shift = xhat factor + offset
template <class T>
void Combine(const ModulationKernels::LayerParts& parts, const SampleChunks& cut,
             const SampleChunks::Tables& tables) {
  const auto* weight = DataOrNull<float>(parts.weight);
  const auto* bias = DataOrNull<float>(parts.bias);
  for (std::int64_t sample = 0; sample < cut.samples(); ++sample) {
    for (std::int64_t c = 0; c < cut.columns(); ++c) {
      const std::int64_t i = sample * cut.columns() + c;
      const float scale = 1.0F + At<T>(parts.scale, i);
      tables.factors[i] = ValueOr(weight, c, 1) * scale;
      tables.offsets[i] = ValueOr(bias, c, 0) * scale + At<T>(parts.shift, i);
    }
  }
}

// From the sums of dy and of dy xhat over each sample to the gradients of what made factor and
// offset, for columns [begin, end).
template <class T>
void StoreGradients(const SampleChunks& cut, const SampleChunks::Tables& tables,
                    const ModulationKernels::LayerParts& parts,
                    const ModulationKernels::LayerGradients& gradients, std::int64_t begin,
                    std::int64_t end) {
  auto* const dweight = DataOrNull<float>(gradients.weight);
  auto* const dbias = DataOrNull<float>(gradients.bias);
  for (std::int64_t c = begin; c < end; ++c) {
    double weight_sum = gradients.accumulate ? ValueOr(dweight, c, 0) : 0;
    double bias_sum = gradients.accumulate ? ValueOr(dbias, c, 0) : 0;
    const double weight = ValueOr(DataOrNull<float>(parts.weight), c, 1);
    const double bias = ValueOr(DataOrNull<float>(parts.bias), c, 0);
    for (std::int64_t sample = 0; sample < cut.samples(); ++sample) {
      const std::int64_t i = sample * cut.columns() + c;
      const double sum = cut.AddUp(tables.sums, sample, c);
      const double product = cut.AddUp(tables.products, sample, c);
      const double scale = 1.0 + static_cast<double>(At<T>(parts.scale, i));
      if (gradients.shift) gradients.shift.data<T>()[i] = static_cast<T>(static_cast<float>(sum));
      if (gradients.scale) {
        const double slope = weight * product + bias * sum;
        gradients.scale.data<T>()[i] = static_cast<T>(static_cast<float>(slope));
      }
      weight_sum += scale * product;
      bias_sum += scale * sum;
    }
    if (dweight != nullptr) dweight[c] = static_cast<float>(weight_sum);
    if (dbias != nullptr) dbias[c] = static_cast<float>(bias_sum);
  }
}

}  // namespace

std::int64_t OneDnnModulationKernels::LayerScratch(const Tensor& x) const {
  return IsFast(x) ? SampleChunks(x).ScratchBytes() : 0;
}

void OneDnnModulationKernels::LayerForward(const Tensor& x, const LayerParts& parts, double epsilon,
                                           const Tensor& y, const Tensor& mean, const Tensor& rstd,
                                           void* scratch) {
  if (!IsFast(x)) {
    return EigenModulationKernels::LayerForward(x, parts, epsilon, y, mean, rstd, scratch);
  }
  const SampleChunks cut(x);
  const std::int64_t columns = cut.columns();
  const auto tables = cut.In(scratch);
  onednn::WithElement(x.dtype(), [&]<class T>() {
    Combine<T>(parts, cut, tables);
    cut.ForEach([&](const Part& part) {
      const std::int64_t at = part.row * columns;
      const std::int64_t sample = part.sample * columns;
      loops_.Of<T>().norm.layer_forward(
          x.data<T>() + at, part.rows, columns, tables.factors + sample, tables.offsets + sample,
          static_cast<float>(epsilon), y.data<T>() + at, mean.data<float>() + part.row,
          rstd.data<float>() + part.row);
    });
  });
}

void OneDnnModulationKernels::LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                            const Tensor& rstd, const LayerParts& parts,
                                            const LayerGradients& gradients, void* scratch) {
  if (!IsFast(x)) {
    return EigenModulationKernels::LayerBackward(dy, x, mean, rstd, parts, gradients, scratch);
  }
  const SampleChunks cut(x);
  const std::int64_t columns = cut.columns();
  const auto tables = cut.In(scratch);
  const bool sums = gradients.shift || gradients.scale || gradients.weight || gradients.bias;
  onednn::WithElement(x.dtype(), [&]<class T>() {
    Combine<T>(parts, cut, tables);
    cut.ForEach([&](const Part& part) {
      const std::int64_t at = part.row * columns;
      const std::int64_t row = part.number * columns;
      loops_.Of<T>().norm.layer_backward(
          dy.data<T>() + at, x.data<T>() + at, mean.data<float>() + part.row,
          rstd.data<float>() + part.row, tables.factors + part.sample * columns, part.rows, columns,
          DataAt<T>(gradients.x, at), sums ? tables.products + row : nullptr,
          sums ? tables.sums + row : nullptr);
    });
    if (!sums) return;
    cut.ForColumns([&](std::int64_t begin, std::int64_t end) {
      StoreGradients<T>(cut, tables, parts, gradients, begin, end);
    });
  });
}

}  // namespace frugal
