#include "sdk/tensor/tensor_pager.h"

#include <cassert>

namespace frugal {

TensorPager::Place TensorPager::Reserve(std::int64_t bytes) {
  extents_.push_back({file_bytes_, bytes});
  file_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return extents_.size() - 1;
}

TensorPager::Place TensorPager::ReserveForPart(std::size_t lane, std::int64_t bytes) {
  if (lane >= lanes_.size()) lanes_.resize(lane + 1);
  Recycled& places = lanes_[lane][bytes];
  if (places.taken == places.places.size()) places.places.push_back(Reserve(bytes));
  return places.places[places.taken++];
}

void TensorPager::RecyclePlaces(std::size_t lane) {
  if (lane >= lanes_.size()) return;
  for (auto& [bytes, places] : lanes_[lane]) places.taken = 0;
}

void TensorPager::RepeatTraffic(const PagingTraffic& before, std::int64_t times) {
  PagingTraffic& now = step_traffic_;
  now.in_bytes = before.in_bytes + times * (now.in_bytes - before.in_bytes);
  now.out_bytes = before.out_bytes + times * (now.out_bytes - before.out_bytes);
}

void TensorPager::PageOut(Place place, const Tensor& tensor) {
  assert(tensor.bytes() == extents_[place].bytes);
  if (in_step_) step_traffic_.out_bytes += tensor.bytes();
  DoPageOut(place, tensor);
}

void TensorPager::PageIn(Place place, const Tensor& tensor) {
  assert(tensor.bytes() == extents_[place].bytes);
  if (in_step_) step_traffic_.in_bytes += tensor.bytes();
  DoPageIn(place, tensor);
}

void TensorPager::BeginStep(std::int64_t key) {
  in_step_ = true;
  step_traffic_ = {};
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) RecyclePlaces(lane);
  DoBeginStep(key);
}

void TensorPager::EndStep() {
  in_step_ = false;
  total_traffic_ += step_traffic_;
  DoEndStep();
}

void TensorPager::AbandonStep() {
  in_step_ = false;
  DoAbandonStep();
}

}  // namespace frugal
