#include "sdk/capture/call_description.h"

#include <algorithm>

#include "sdk/capture/calls/all_calls.h"
#include "sdk/capture/capture_error.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

HeapAllocator& ResultMemory() {
  static HeapAllocator heap;
  return heap;
}

class Describer final : public CallVisitor {
 public:
  explicit Describer(CallDescription& to) : to_(to) {}

  using CallVisitor::Attribute;
  using CallVisitor::Result;
  void Attribute(std::string_view name, bool& value) override { Add(name, value); }
  void Attribute(std::string_view name, double& value) override { Add(name, value); }
  void Attribute(std::string_view name, std::int64_t& value) override { Add(name, value); }
  void Attribute(std::string_view name, std::uint64_t& value) override { Add(name, value); }
  void Attribute(std::string_view name, Shape& value) override { Add(name, value); }
  void Result(std::string_view name, double& value) override {
    Tensor number(ResultMemory(), {1}, DType::kF64, MemoryTag::kWorkspace);
    *number.data<double>() = value;
    Operand(name, OperandRole::kOutput, number, nullptr);
  }

 private:
  void Add(std::string_view name, AttributeValue value) {
    to_.attributes.emplace_back(std::string(name), std::move(value));
  }
  void Choice(std::string_view name, std::size_t& index,
              std::span<const std::string_view> names) override {
    Add(name, std::string(names[index]));
  }
  void Operand(std::string_view name, OperandRole role, Tensor& tensor,
               const TensorPart* part) override {
    if (!tensor) return;
    const std::size_t at = BufferAt(name, tensor);
    CallBuffer& buffer = to_.buffers[at];
    to_.operands.push_back({std::string(name), role, tensor.shape(), at});
    if (role != OperandRole::kOutput) buffer.read = true;
    if (role == OperandRole::kInput) return;
    if (part == nullptr) {
      buffer.parts.clear();
      whole_.push_back(at);
    } else if (std::ranges::find(whole_, at) == whole_.end()) {
      buffer.parts.push_back(*part);
    }
    buffer.written = true;
  }
  std::size_t BufferAt(std::string_view name, const Tensor& tensor) {
    for (std::size_t i = 0; i < to_.buffers.size(); ++i) {
      const CallBuffer& other = to_.buffers[i];
      if (tensor.bytes() > 0 && other.tensor.raw() == tensor.raw() &&
          other.bytes() == tensor.bytes() && other.dtype == tensor.dtype()) {
        return i;
      }
    }
    to_.buffers.push_back({std::string(name), tensor, tensor.shape(), tensor.dtype()});
    return to_.buffers.size() - 1;
  }

  CallDescription& to_;
  std::vector<std::size_t> whole_;  // buffers that are written everywhere
};

class Assigner final : public CallVisitor {
 public:
  explicit Assigner(const CallDescription& from) : from_(from) {}

  using CallVisitor::Attribute;
  using CallVisitor::Result;
  void Attribute(std::string_view name, bool& value) override { Take(name, value); }
  void Attribute(std::string_view name, double& value) override { Take(name, value); }
  void Attribute(std::string_view name, std::int64_t& value) override { Take(name, value); }
  void Attribute(std::string_view name, std::uint64_t& value) override { Take(name, value); }
  void Attribute(std::string_view name, Shape& value) override { Take(name, value); }
  void Result(std::string_view, double&) override {}

 private:
  [[noreturn]] void Refuse(std::string_view name, const std::string& given) const {
    throw CaptureError({.where = from_.kernel,
                        .required = "an entry has all that its operation is given",
                        .given = "'" + std::string(name) + "' is " + given,
                        .advice = "capture again with this version"});
  }
  template <class T>
  void Take(std::string_view name, T& value) {
    const auto is_it = [&](const auto& pair) { return pair.first == name; };
    const auto found = std::ranges::find_if(from_.attributes, is_it);
    if (found == from_.attributes.end()) Refuse(name, "missing");
    const T* held = std::get_if<T>(&found->second);
    if (held == nullptr) Refuse(name, "of another type");
    value = *held;
  }
  void Choice(std::string_view name, std::size_t& index,
              std::span<const std::string_view> names) override {
    std::string text;
    Take(name, text);
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) Refuse(name, "'" + text + "', which is not known");
    index = static_cast<std::size_t>(found - names.begin());
  }
  void Operand(std::string_view name, OperandRole, Tensor& tensor, const TensorPart*) override {
    tensor = Tensor();
    for (const CallOperand& operand : from_.operands) {
      if (operand.name != name) continue;
      const Tensor& held = from_.buffers[operand.buffer].tensor;
      tensor =
          held && held.size() == operand.shape.ElementCount() ? held.Reshape(operand.shape) : held;
    }
  }

  const CallDescription& from_;
};

}  // namespace

const CallBuffer* CallDescription::BufferOf(std::string_view operand) const {
  for (const CallOperand& other : operands) {
    if (other.name == operand) return &buffers[other.buffer];
  }
  return nullptr;
}

std::int64_t CallDescription::TensorBytes() const {
  std::int64_t bytes = 0;
  for (const CallBuffer& buffer : buffers) {
    bytes += buffer.bytes() * (static_cast<int>(buffer.read) + static_cast<int>(buffer.written));
  }
  return bytes;
}

CallDescription Describe(Call& call) {
  CallDescription description{.kernel = std::string(call.name())};
  Describer describer(description);
  call.Visit(describer);
  return description;
}

std::unique_ptr<Call> MakeCall(const CallDescription& description) {
  std::unique_ptr<Call> call = MakeCall(description.kernel);
  if (call == nullptr) {
    throw CaptureError({.where = description.kernel,
                        .required = "an operation that this version knows",
                        .given = "there is none of this name",
                        .advice = "verify with the version that captured it"});
  }
  Assigner assigner(description);
  call->Visit(assigner);
  return call;
}

}  // namespace frugal
