#include "builders/run/model_part.h"

#include "sdk/core/error.h"

namespace frugal {

void RefuseMovedModel() {
  throw UsageError({.where = "Model",
                    .required = "a model that was not moved into another",
                    .given = "this one was",
                    .advice = "use the one that it was moved into"});
}

}  // namespace frugal
