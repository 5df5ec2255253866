#pragma once

#include "sdk/backend/adaptive_kernels.h"

namespace frugal {

// The kernels follow PyTorch's formulas; factors are computed in double precision, the elements in
// their own type (f32 or f64).
class EigenAdaptiveKernels : public AdaptiveKernels {
 public:
  void RmsProp(const RmsPropArguments& arguments, const Tensor& gradient,
               const Tensor& square_average, const Tensor& gradient_average,
               const Tensor& momentum_buffer, const Tensor& parameter) override;
  void Adagrad(const AdagradArguments& arguments, const Tensor& gradient, const Tensor& square_sum,
               const Tensor& parameter) override;
  void Adadelta(const AdadeltaArguments& arguments, const Tensor& gradient,
                const Tensor& square_average, const Tensor& delta_average,
                const Tensor& parameter) override;
  void NAdam(const NAdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
             const Tensor& second_moment, const Tensor& parameter) override;
  void RAdam(const RAdamArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
             const Tensor& second_moment, const Tensor& parameter) override;
  void Adamax(const AdamaxArguments& arguments, const Tensor& gradient, const Tensor& first_moment,
              const Tensor& infinity_norm, const Tensor& parameter) override;
};

}  // namespace frugal
