#pragma once

#include <cstdint>

#include "sdk/module/parameter.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

// Says which tensors of parameters lie in a page file while no operation uses them.
struct ParameterPaging {
  TensorPager* pager = nullptr;  // null where nothing is paged; it outlives the store
  bool values = false;
  bool states = false;           // of optimizers, and moving averages
  std::int64_t least_bytes = 1;  // smaller tensors stay in memory

  // Running statistics change while a forward pass runs, and stay.
  bool PagesValue(const Parameter& parameter, std::int64_t bytes) const {
    return values && !parameter.is_buffer && Pages(bytes);
  }
  bool PagesState(std::int64_t bytes) const { return states && Pages(bytes); }

 private:
  bool Pages(std::int64_t bytes) const { return pager != nullptr && bytes >= least_bytes; }
};

// Stands for a tensor that has a place in a page file.
struct PagedTensor {
  TensorPager::Place place = 0;
  Shape shape;
  DType dtype = DType::kF32;
  bool is_there = false;  // it has been paged out before
};

}  // namespace frugal
