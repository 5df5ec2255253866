#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sdk/capture/calls/call.h"

namespace frugal {

using AttributeValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, Shape>;

// Memory that one or more operands of a call share.
struct CallBuffer {
  std::string name;  // of the first operand in it
  Tensor tensor{};   // as that operand sees it
  Shape shape{};
  DType dtype = DType::kF32;
  bool read = false;     // what it held before counts
  bool written = false;  // what it holds behind the call counts
  // Says where something is written; empty for everywhere. The rest is taken as 0.
  std::vector<TensorPart> parts{};

  std::int64_t bytes() const { return shape.ElementCount() * SizeOf(dtype); }
};

struct CallOperand {
  std::string name;
  OperandRole role = OperandRole::kInput;
  Shape shape{};
  std::size_t buffer = 0;
};

// A call as plain values: what an entry of a capture says of it, but for what the tensors hold.
struct CallDescription {
  std::string kernel;
  std::vector<std::pair<std::string, AttributeValue>> attributes{};
  std::vector<CallOperand> operands{};
  std::vector<CallBuffer> buffers{};

  const CallBuffer* BufferOf(std::string_view operand) const;
  // Returns the bytes of all tensors that an entry of it has, each as often as it is there.
  std::int64_t TensorBytes() const;
};

// Returns what a call is given. Results that it returns are buffers of one f64, which have the
// values that the call has now.
CallDescription Describe(Call& call);

// Makes the call that a description tells of, on the tensors of its buffers. Throws CaptureError
// where no such kernel is known or something is missing. Results are not put in.
std::unique_ptr<Call> MakeCall(const CallDescription& description);

}  // namespace frugal
