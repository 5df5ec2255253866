#include "sdk/capture/calls/product_calls.h"

#include <algorithm>
#include <cstring>

#include "sdk/capture/calls/call_fields.h"

namespace frugal {
namespace {

// Returns the weight with more outputs, which are zeros.
Tensor Widened(const LinearWeight& weight, Allocator& memory) {
  const std::int64_t inputs = weight.inputs();
  const bool out_in = weight.layout == WeightLayout::kOutIn;
  const Shape shape = out_in ? Shape{weight.row_width, inputs} : Shape{inputs, weight.row_width};
  Tensor wide(memory, shape, weight.tensor.dtype(), MemoryTag::kWorkspace);
  std::memset(wide.raw(), 0, static_cast<std::size_t>(wide.bytes()));
  const std::int64_t rows = weight.tensor.shape()[0];
  const auto row =
      static_cast<std::size_t>(weight.tensor.bytes() / std::max<std::int64_t>(rows, 1));
  const auto wide_row = static_cast<std::size_t>(wide.bytes() / shape[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    std::memcpy(static_cast<std::byte*>(wide.raw()) + i * wide_row,
                static_cast<const std::byte*>(weight.tensor.raw()) + i * row, row);
  }
  return wide;
}

}  // namespace

void ProductCall::VisitLayout(CallVisitor& visitor, LinearWeight& weight) {
  visitor.Attribute("layout", weight.layout);
  visitor.Attribute("row_width", weight.row_width);
  visitor.Attribute("packed", packed);
}

void ProductCall::PrepareWeight(Backend& backend, Allocator& memory, LinearWeight& weight,
                                DType dtype) {
  if (weight.row_width > weight.outputs() &&
      (dtype != DType::kBF16 || backend.product().FastWidth(weight) != weight.row_width)) {
    weight.tensor = Widened(weight, memory);
  }
  if (!packed || dtype != DType::kBF16 || weight.packed) return;
  const std::int64_t bytes = backend.product().PackedWeightBytes(weight);
  if (bytes == 0) return;
  const Tensor layout(memory, {bytes}, DType::kU8, MemoryTag::kWorkspace);
  backend.product().PackWeight(weight, layout);
  weight.packed = layout;
}

void LinearForwardCall::Visit(CallVisitor& visitor) {
  VisitLayout(visitor, weight);
  VisitFields(visitor, epilogue);
  visitor.Input("x", x);
  visitor.Input("weight", weight.tensor);
  visitor.Input("bias", bias);
  visitor.Input("residual", residual);
  visitor.Output("y", y);
}

void LinearForwardCall::Run(Backend& backend, void* scratch) {
  if (backend.product().FusesActivation(epilogue.activation)) {
    backend.product().LinearForward(x, weight, bias, residual, y, epilogue, scratch);
    return;
  }
  backend.product().LinearForward(x, weight, bias, residual, y, {}, scratch);
  backend.elementwise().ActivationForward(epilogue.activation, epilogue.parameter, y, y);
}

void LinearBackwardDataCall::Visit(CallVisitor& visitor) {
  VisitLayout(visitor, weight);
  visitor.Attribute("accumulate", accumulate);
  visitor.Input("dy", dy);
  visitor.Input("weight", weight.tensor);
  visitor.Gradient("dx", dx, accumulate);
}

void LinearBackwardWeightCall::Visit(CallVisitor& visitor) {
  VisitLayout(visitor, dweight);
  visitor.Attribute("accumulate", accumulate);
  visitor.Input("dy", dy);
  visitor.Input("x", x);
  visitor.Gradient("dweight", dweight.tensor, accumulate);
  visitor.Gradient("dbias", dbias, accumulate);
}

}  // namespace frugal
