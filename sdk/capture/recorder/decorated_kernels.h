#pragma once

#include <cstring>
#include <map>

#include "sdk/capture/recorder/call_recorder.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// The base of kernels that show their calls to a recorder and leave the work to others.
template <class Kernels>
class DecoratedKernels : public Kernels {
 public:
  DecoratedKernels(Kernels& inner, CallRecorder& recorder) : inner_(inner), recorder_(recorder) {}

 protected:
  Kernels& inner() const { return inner_; }
  CallRecorder& recorder() const { return recorder_; }
  void Record(Call& call, void* scratch) { recorder_.Record(call, scratch); }

 private:
  Kernels& inner_;
  CallRecorder& recorder_;
};

// Copies of what forward kernels read, kept for the backward ones that only have what the backend
// made of it. Each takes heap memory from its forward to its backward.
class KeptInputs {
 public:
  void Keep(const Tensor& made, const Tensor& input) {
    Tensor copy(heap_, input.shape(), input.dtype(), MemoryTag::kWorkspace);
    if (input.bytes() > 0) {
      std::memcpy(copy.raw(), input.raw(), static_cast<std::size_t>(input.bytes()));
    }
    kept_[made.raw()] = std::move(copy);
  }
  // Returns an empty tensor where nothing was kept.
  Tensor Take(const Tensor& made) {
    const auto found = kept_.find(made.raw());
    if (found == kept_.end()) return {};
    Tensor input = std::move(found->second);
    kept_.erase(found);
    return input;
  }

 private:
  HeapAllocator heap_;
  std::map<const void*, Tensor> kept_;
};

}  // namespace frugal
