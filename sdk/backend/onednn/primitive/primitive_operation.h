#pragma once

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "sdk/backend/onednn/operation/operation.h"

// Sees oneDNN, as only this header and recipes.h do; neither is installed.
namespace frugal::onednn {

// How a tensor of the caller meets an argument of the primitive.
struct Binding {
  Slot slot;
  int argument;  // DNNL_ARG_*
  dnnl::memory::desc outside;
  dnnl::memory::desc inside;
  bool output = false;
  bool accumulate = false;  // outputs only: add to what is outside
};

struct Recipe {
  dnnl::engine engine;
  dnnl::primitive_desc_base descriptor;  // scratchpad mode: user
  std::vector<Binding> bindings;
};

std::unique_ptr<Operation> MakeOperation(Recipe recipe);

}  // namespace frugal::onednn
