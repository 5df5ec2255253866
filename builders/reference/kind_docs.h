#pragma once

#include <string_view>

namespace frugal {

// Returns one sentence about a choice of [loss], [optimizer] or [schedule] kind; "" where there is
// none.
std::string_view DocOfKind(std::string_view section, std::string_view kind);

}  // namespace frugal
