#include "sdk/comm/process/routed_transport.h"

#include <utility>

namespace frugal {

RoutedTransport::RoutedTransport(std::unique_ptr<ChunkTransport> near,
                                 const std::vector<int>& near_ranks,
                                 std::unique_ptr<ChunkTransport> far)
    : ChunkTransport(far->rank(), far->size()),
      near_(std::move(near)),
      far_(std::move(far)),
      numbers_(static_cast<std::size_t>(size()), -1) {
  for (std::size_t i = 0; i < near_ranks.size(); ++i) {
    numbers_[static_cast<std::size_t>(near_ranks[i])] = static_cast<int>(i);
  }
}

void RoutedTransport::Begin(const std::string& activity) {
  near_->Begin(activity);
  far_->Begin(activity);
}

void RoutedTransport::CheckOthers(int waits_for, const std::string& activity) {
  const bool near = waits_for >= 0 && IsNear(waits_for);
  near_->CheckOthers(near ? NumberOf(waits_for) : -1, activity);
  far_->CheckOthers(waits_for, activity);
}

void RoutedTransport::End() {
  near_->End();
  far_->End();
}

void RoutedTransport::Fail(const std::string& message) {
  near_->Fail(message);
  far_->Fail(message);
}

}  // namespace frugal
