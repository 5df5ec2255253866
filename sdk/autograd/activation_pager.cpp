#include "sdk/autograd/activation_pager.h"

#include "sdk/autograd/context.h"

namespace frugal {

void ActivationPager::Begin(std::size_t lane) {
  lane_ = lane;
  paged_bytes_ = 0;
  paged_.clear();
  known_.clear();
  pager_.RecyclePlaces(lane);
}

std::shared_ptr<Remat> ActivationPager::PageOut(const Tensor& value, LabelTable::Id label) {
  const std::int64_t bytes = value.bytes();
  if (bytes < least_bytes_) return nullptr;
  Known& known = known_[value.raw()];
  if (!known.storage.expired() && known.bytes == bytes) {
    if (std::shared_ptr<Remat> remat = known.remat.lock()) return remat;
  }
  if (paged_bytes_ + bytes > most_bytes_) return nullptr;
  paged_bytes_ += bytes;
  paged_.push_back({label, bytes});
  const TensorPager::Place place = pager_.ReserveForPart(lane_, bytes);
  pager_.PageOut(place, value);
  const auto bring = [this, place, shape = value.shape(), dtype = value.dtype()](Context& context) {
    Tensor again = context.Allocate(shape, dtype);
    pager_.PageIn(place, again);
    return again;
  };
  auto remat = std::make_shared<Remat>(bring, 0);
  known = {value.Watch(), bytes, remat};
  return remat;
}

// Without a tape nothing is kept; what runs again for its backward pass is needed at once.
std::shared_ptr<Remat> Context::PageOut(const Tensor& value) {
  if (activation_pager_ == nullptr || tape_ == nullptr || recomputing_) return nullptr;
  return activation_pager_->PageOut(value, ledger().label());
}

}  // namespace frugal
