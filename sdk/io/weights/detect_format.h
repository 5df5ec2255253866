#pragma once

#include <string_view>

#include "sdk/io/weights/weights_file_format.h"

namespace frugal {

// The form that the first bytes of a file show (16 are enough), kAuto when none.
WeightsFileFormat DetectFormat(std::string_view beginning);

// A well-known kind of file that is not one of our forms ("a PyTorch checkpoint"), or empty.
std::string_view ForeignKind(std::string_view beginning);

}  // namespace frugal
