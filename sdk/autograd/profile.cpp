#include "sdk/autograd/profile.h"

namespace frugal {

void KernelTotals::Add(const LaunchCost& cost, double elapsed) {
  ++launches;
  seconds += elapsed;
  flops += cost.flops;
  bytes += static_cast<double>(cost.bytes);
}

void KernelTotals::Add(const KernelTotals& other) {
  launches += other.launches;
  seconds += other.seconds;
  flops += other.flops;
  bytes += other.bytes;
}

void Profile::AddKinds(const Profile& other) {
  for (std::size_t i = 0; i < by_kind.size(); ++i) {
    by_kind[i].forward.Add(other.by_kind[i].forward);
    by_kind[i].backward.Add(other.by_kind[i].backward);
  }
}

void ProfileScope::Add() {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (profile_.by_label.size() <= label_) profile_.by_label.resize(label_ + 1);
  profile_.by_label[label_].Add(cost_, elapsed);
  KindTotals& kind = profile_.by_kind[static_cast<std::size_t>(cost_.kind.value)];
  (backward_ ? kind.backward : kind.forward).Add(cost_, elapsed);
  if (trace_ == nullptr || !trace_->has_operations()) return;
  trace_->TimeLast(std::chrono::duration<double>(start_.time_since_epoch()).count(), elapsed);
}

}  // namespace frugal
