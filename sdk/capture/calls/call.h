#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "sdk/backend/array_kernels.h"
#include "sdk/backend/backend.h"
#include "sdk/tensor/tensor.h"

namespace frugal {

// Tells what a kernel does with a tensor.
enum class OperandRole : std::uint8_t {
  kInput,    // it is read
  kOutput,   // it is overwritten, whatever it held
  kUpdated,  // it is read and written
};

// A part of a tensor: outside of it a kernel writes nothing.
struct TensorPart {
  Shape extents;
  StridedView box;
};

// Is shown all of a call, piece by piece, and may change it: a recorder takes it down, a replayer
// puts tensors and numbers in. The order of the pieces is always that of Call::Visit; tensors that
// are not given are shown too.
class CallVisitor {
 public:
  virtual ~CallVisitor() = default;

  void Input(std::string_view name, Tensor& tensor) {
    Operand(name, OperandRole::kInput, tensor, nullptr);
  }
  void Output(std::string_view name, Tensor& tensor) {
    Operand(name, OperandRole::kOutput, tensor, nullptr);
  }
  void Updated(std::string_view name, Tensor& tensor) {
    Operand(name, OperandRole::kUpdated, tensor, nullptr);
  }
  // Shows what is added to or, without `accumulate`, overwritten.
  void Gradient(std::string_view name, Tensor& tensor, bool accumulate) {
    Operand(name, accumulate ? OperandRole::kUpdated : OperandRole::kOutput, tensor, nullptr);
  }
  void Written(std::string_view name, Tensor& tensor, const TensorPart& part, bool accumulate) {
    Operand(name, accumulate ? OperandRole::kUpdated : OperandRole::kOutput, tensor, &part);
  }

  virtual void Attribute(std::string_view name, bool& value) = 0;
  virtual void Attribute(std::string_view name, double& value) = 0;
  virtual void Attribute(std::string_view name, std::int64_t& value) = 0;
  virtual void Attribute(std::string_view name, std::uint64_t& value) = 0;
  virtual void Attribute(std::string_view name, Shape& value) = 0;
  template <class E>
  requires std::is_enum_v<E>
  void Attribute(std::string_view name, E& value) {
    auto index = static_cast<std::size_t>(value);
    Choice(name, index, ChoicesOf(value));
    value = static_cast<E>(index);
  }
  // Shows a number that the kernel returns.
  virtual void Result(std::string_view name, double& value) = 0;
  void Result(std::string_view name, std::int64_t& value) {
    auto number = static_cast<double>(value);
    Result(name, number);
    value = static_cast<std::int64_t>(number);
  }

 private:
  virtual void Operand(std::string_view name, OperandRole role, Tensor& tensor,
                       const TensorPart* part) = 0;
  virtual void Choice(std::string_view name, std::size_t& index,
                      std::span<const std::string_view> names) = 0;
};

// Says which wrong results a call's right one may well equal, so that telling them apart is not
// asked of a comparison.
struct NullExcuses {
  bool zeros = false;
  bool copy = false;   // of an input
  bool order = false;  // the right values in another order
  // Two inputs that may change places.
  std::string_view either{};
  std::string_view other{};
};

// One call of a kernel with all that it is given: what is recorded, and run again.
class Call {
 public:
  Call() = default;
  Call(const Call&) = default;
  Call& operator=(const Call&) = default;
  virtual ~Call() = default;

  virtual std::string_view name() const = 0;  // "linear_forward"
  virtual void Visit(CallVisitor& visitor) = 0;
  // Makes what only this backend reads (packed weights, indices of maxima), where a call that was
  // read from a file has none.
  virtual void Prepare(Backend&, Allocator&) {}
  virtual std::int64_t Scratch(Backend&) const { return 0; }
  virtual void Run(Backend& backend, void* scratch) = 0;
  // Returns multiplications and additions of products; 0 of what is bound by memory.
  virtual double Flops() const { return 0; }
  virtual NullExcuses excuses() const { return {}; }
};

}  // namespace frugal
