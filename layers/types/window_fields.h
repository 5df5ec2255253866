#pragma once

#include <array>
#include <vector>

#include "layers/types/shared_fields.h"

namespace frugal {

inline constexpr std::array<const char*, 4> kAxesDocs = {
    "", "Its length.", "Height and width, or one for both.", "Depth, height and width, or one."};

// Convolutions and their transposes: the fields that both have.
template <class T>
std::vector<Field> WindowFields(std::size_t axes, double most_stride) {
  FieldLimits stride = PerAxisLimits(1, axes);
  stride.max = most_stride;
  return {
      MakeField("filters", &T::filters, "Output channels.", SizeLimits(true)),
      MakeField("kernel", &T::kernel, kAxesDocs[axes], PerAxisLimits(1, axes, true)),
      MakeField("stride", &T::stride, "Step of the kernel.", stride),
      MakeField("padding", &T::padding, "Zeros on each side.", PerAxisLimits(0, axes)),
      MakeField("dilation", &T::dilation, "Distance of kernel elements.", PerAxisLimits(1, axes)),
      MakeField("groups", &T::groups, "Channels are split into so many groups.", SizeLimits()),
      MakeField("bias", &T::bias, "Whether a bias is added.")};
}

}  // namespace frugal
