#pragma once

#include <fstream>
#include <string>

namespace frugal {

// Seconds that this machine's cores have stood still since it started while its host served others;
// 0 where the system does not tell.
inline double StolenSeconds() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double ticks[8] = {};
  stat >> name;
  for (double& value : ticks) stat >> value;
  return stat ? ticks[7] / 100 : 0;
}

// Made before a run: whether the host let the machine run meanwhile, but for a fiftieth of the
// time.
class HostWatch {
 public:
  bool WasQuiet(double seconds) const { return StolenSeconds() - before_ <= seconds / 50; }

 private:
  double before_ = StolenSeconds();
};

}  // namespace frugal
