#include "layers/joins/output_layer.h"

namespace frugal {

std::string OutputLayer::Describe() const {
  return "output" + (body_->size() == 0 ? "" : " of " + std::to_string(body_->size()) + " layers");
}

void OutputLayer::ForwardTuple(Context& context, VarTuple& vars) {
  PushSkip(vars, body_->size() == 0 ? vars[0] : (*body_)(context, vars[0]));
}

}  // namespace frugal
