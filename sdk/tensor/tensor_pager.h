#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sdk/tensor/tensor.h"

namespace frugal {

// Counts bytes that were read from a page file and written to it.
struct PagingTraffic {
  std::int64_t in_bytes = 0;
  std::int64_t out_bytes = 0;

  bool operator==(const PagingTraffic&) const = default;
  PagingTraffic& operator+=(const PagingTraffic& other) {
    in_bytes += other.in_bytes;
    out_bytes += other.out_bytes;
    return *this;
  }
};

// Holds tensors outside of memory while nobody needs them: in a file, or nowhere while a step is
// only planned. Threads: the one that runs steps uses it.
class TensorPager {
 public:
  using Place = std::size_t;

  TensorPager() = default;
  TensorPager(const TensorPager&) = delete;
  TensorPager& operator=(const TensorPager&) = delete;
  virtual ~TensorPager() = default;

  // Makes a place for a tensor of so many bytes, with nothing in it yet.
  Place Reserve(std::int64_t bytes);
  // Makes a place of a lane until RecyclePlaces(lane), behind which the same ones are taken again,
  // in turn; so it is in all lanes when a step begins. Parts of a batch that are in flight at one
  // time have lanes of their own.
  Place ReserveForPart(std::size_t lane, std::int64_t bytes);
  void RecyclePlaces(std::size_t lane);
  // Takes the tensor's bytes; it may change or go as soon as this returns.
  void PageOut(Place place, const Tensor& tensor);
  // Fills the tensor with what was paged out last.
  void PageIn(Place place, const Tensor& tensor);
  // Reads a part of that between steps; it is not counted.
  void ReadPart(Place place, std::int64_t offset, std::span<std::byte> part) {
    DoReadPart(place, offset, part);
  }

  // Steps of equal keys page the same in the same order, which is read ahead the second time.
  void BeginStep(std::int64_t key);
  void EndStep();
  // Ends a step that failed.
  void AbandonStep();
  bool in_step() const { return in_step_; }

  // Since the last step began, or while it ran; and since the beginning, steps alone.
  const PagingTraffic& step_traffic() const { return step_traffic_; }
  const PagingTraffic& total_traffic() const { return total_traffic_; }
  // Counts what came since `before`, which step_traffic() was, so many times.
  void RepeatTraffic(const PagingTraffic& before, std::int64_t times);
  // Returns the size of a file of all places.
  std::int64_t file_bytes() const { return file_bytes_; }

  // Places begin at multiples of this in a file, as disks want it.
  static constexpr std::int64_t kAlignment = 4096;

 protected:
  struct Extent {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  const Extent& ExtentOf(Place place) const { return extents_[place]; }

  virtual void DoPageOut(Place place, const Tensor& tensor) = 0;
  virtual void DoPageIn(Place place, const Tensor& tensor) = 0;
  virtual void DoReadPart(Place place, std::int64_t offset, std::span<std::byte> part) = 0;
  virtual void DoBeginStep(std::int64_t /*key*/) {}
  virtual void DoEndStep() {}
  virtual void DoAbandonStep() {}

 private:
  // Places of one size that are taken in turn, and how many are.
  struct Recycled {
    std::vector<Place> places;
    std::size_t taken = 0;
  };

  std::vector<Extent> extents_;
  std::vector<std::map<std::int64_t, Recycled>> lanes_;  // by bytes
  std::int64_t file_bytes_ = 0;
  PagingTraffic step_traffic_;
  PagingTraffic total_traffic_;
  bool in_step_ = false;
};

// Counts what a step would page.
class DryPager final : public TensorPager {
 private:
  void DoPageOut(Place, const Tensor&) override {}
  void DoPageIn(Place, const Tensor&) override {}
  void DoReadPart(Place, std::int64_t, std::span<std::byte>) override {}
};

}  // namespace frugal
