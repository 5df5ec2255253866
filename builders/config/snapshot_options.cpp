#include "builders/config/snapshot_options.h"

namespace frugal {

std::string_view NameOf(MonitorMode mode) { return mode == MonitorMode::kMin ? "min" : "max"; }

std::string_view NameOf(BusyPolicy policy) { return policy == BusyPolicy::kWait ? "wait" : "skip"; }

}  // namespace frugal
