#include "sdk/autograd/profile.h"

#include <algorithm>

namespace frugal {

void ProfileScope::Add() {
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  if (profile_.by_label.size() <= label_) profile_.by_label.resize(label_ + 1);
  LayerProfile& entry = profile_.by_label[label_];
  ++entry.launches;
  entry.seconds += elapsed.count();
  entry.flops += flops_;
}

}  // namespace frugal
