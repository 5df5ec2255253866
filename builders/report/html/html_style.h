#pragma once

#include <string_view>

namespace frugal {

// The style sheet of reports: only fonts that systems have, nothing from elsewhere.
std::string_view ReportStyle();

}  // namespace frugal
