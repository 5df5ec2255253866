#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sdk/capture/call_description.h"

namespace frugal {

// Runs a call with what its backend needs beside its tensors: private layouts, scratch.
void RunCall(Call& call, Backend& backend, Allocator& memory);

// Returns the tensor in another element type, if both are floating; else a copy of it.
Tensor Converted(const Tensor& tensor, DType dtype, Allocator& memory);

// Returns a copy whose elements outside of the parts are 0; of no parts, the tensor itself.
Tensor Masked(const Tensor& tensor, const std::vector<TensorPart>& parts, Allocator& memory);

// Returns the description on tensors of its own: copies of what is read, in floating type `real` if
// one is given, and zeros where a call only writes.
CallDescription Copied(const CallDescription& description, std::optional<DType> real,
                       Allocator& memory);

// Returns what a call that has run wrote, in the order of the buffers of `like` that are written:
// 0 outside of their parts.
std::vector<Tensor> WrittenBy(Call& call, const CallDescription& like, Allocator& memory);

}  // namespace frugal
