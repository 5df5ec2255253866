#include "sdk/backend/eigen/loss/weights.h"

#include <string>

#include "sdk/core/error.h"

namespace frugal::eigen {

void RequireLabel(std::string_view where, std::int64_t label, std::int64_t row,
                  std::int64_t classes) {
  if (label >= 0 && label < classes) return;
  throw DataError({.where = std::string(where),
                   .required = "every label from 0 to " + std::to_string(classes - 1),
                   .given = "label " + std::to_string(label) + " in row " + std::to_string(row),
                   .advice = "correct the labels or give the model's last layer more outputs"});
}

}  // namespace frugal::eigen
