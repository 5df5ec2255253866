#include "sdk/backend/common/dispatch.h"

#include <string>

#include "sdk/core/error.h"

namespace frugal::eigen {

void ThrowUnsupported(std::string_view where, DType dtype) {
  throw UsageError({.where = "eigen " + std::string(where),
                    .required = "tensors of f32 or f64",
                    .given = std::string(NameOf(dtype)),
                    .advice = "convert the tensor, or use a backend that supports this type"});
}

}  // namespace frugal::eigen
