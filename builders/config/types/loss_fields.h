#pragma once

#include "presets/config/field.h"

namespace frugal {

// The fields of LossOptions: those of [loss], and of the loss of an output.
const FieldTable& LossFields();

}  // namespace frugal
