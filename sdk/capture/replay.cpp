#include "sdk/capture/replay.h"

#include <cstring>

#include "sdk/core/bfloat16.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

bool IsReal(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16;
}

template <class To, class From>
To As(From value) {
  if constexpr (std::is_same_v<From, BFloat16>) {
    return As<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void ConvertElements(const Tensor& from, const Tensor& to) {
  const From* in = from.data<From>();
  To* out = to.data<To>();
  ParallelFor(from.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = As<To>(in[i]);
  });
}

template <class To>
void ConvertTo(const Tensor& from, const Tensor& to) {
  if (from.dtype() == DType::kF32) return ConvertElements<To, float>(from, to);
  if (from.dtype() == DType::kF64) return ConvertElements<To, double>(from, to);
  ConvertElements<To, BFloat16>(from, to);
}

// Copies the elements of a part, whose axes are extents.rank() nested loops.
void CopyPart(const TensorPart& part, std::size_t axis, std::int64_t offset, std::size_t element,
              const std::byte* from, std::byte* to) {
  if (axis == part.extents.rank()) {
    const auto at = static_cast<std::size_t>(offset) * element;
    std::memcpy(to + at, from + at, element);
    return;
  }
  const std::int64_t extent = part.extents[axis], stride = part.box.strides[axis];
  if (axis + 1 == part.extents.rank() && stride == 1) {
    const auto at = static_cast<std::size_t>(offset) * element;
    std::memcpy(to + at, from + at, static_cast<std::size_t>(extent) * element);
    return;
  }
  for (std::int64_t i = 0; i < extent; ++i) {
    CopyPart(part, axis + 1, offset + i * stride, element, from, to);
  }
}

Tensor Zeros(const Shape& shape, DType dtype, Allocator& memory) {
  Tensor tensor(memory, shape, dtype, MemoryTag::kWorkspace);
  if (tensor.bytes() > 0) std::memset(tensor.raw(), 0, static_cast<std::size_t>(tensor.bytes()));
  return tensor;
}

}  // namespace

void RunCall(Call& call, Backend& backend, Allocator& memory) {
  call.Prepare(backend, memory);
  const Block scratch = memory.Allocate(call.Scratch(backend), MemoryTag::kWorkspace);
  call.Run(backend, scratch.data());
}

Tensor Converted(const Tensor& tensor, DType dtype, Allocator& memory) {
  const bool converts = IsReal(tensor.dtype()) && IsReal(dtype) && tensor.dtype() != dtype;
  Tensor to(memory, tensor.shape(), converts ? dtype : tensor.dtype(), MemoryTag::kWorkspace);
  if (tensor.bytes() == 0) return to;
  if (!converts) {
    std::memcpy(to.raw(), tensor.raw(), static_cast<std::size_t>(tensor.bytes()));
  } else if (dtype == DType::kF32) {
    ConvertTo<float>(tensor, to);
  } else if (dtype == DType::kF64) {
    ConvertTo<double>(tensor, to);
  } else {
    ConvertTo<BFloat16>(tensor, to);
  }
  return to;
}

Tensor Masked(const Tensor& tensor, const std::vector<TensorPart>& parts, Allocator& memory) {
  if (parts.empty()) return tensor;
  Tensor to = Zeros(tensor.shape(), tensor.dtype(), memory);
  for (const TensorPart& part : parts) {
    if (part.extents.ElementCount() == 0) continue;
    CopyPart(part, 0, part.box.offset, static_cast<std::size_t>(SizeOf(tensor.dtype())),
             static_cast<const std::byte*>(tensor.raw()), static_cast<std::byte*>(to.raw()));
  }
  return to;
}

CallDescription Copied(const CallDescription& description, std::optional<DType> real,
                       Allocator& memory) {
  CallDescription copy = description;
  for (CallBuffer& buffer : copy.buffers) {
    if (real && IsReal(buffer.dtype)) buffer.dtype = *real;
    if (buffer.read) {
      buffer.tensor = Converted(Masked(buffer.tensor, buffer.parts, memory), buffer.dtype, memory);
    } else {
      buffer.tensor = Zeros(buffer.shape, buffer.dtype, memory);
    }
  }
  return copy;
}

std::vector<Tensor> WrittenBy(Call& call, const CallDescription& like, Allocator& memory) {
  const CallDescription now = Describe(call);
  std::vector<Tensor> written;
  for (const CallBuffer& buffer : like.buffers) {
    if (!buffer.written) continue;
    const CallBuffer* held = now.BufferOf(buffer.name);
    written.push_back(held == nullptr ? Tensor() : Masked(held->tensor, buffer.parts, memory));
  }
  return written;
}

}  // namespace frugal
