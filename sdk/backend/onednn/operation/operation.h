#pragma once

#include <cstdint>
#include <initializer_list>

namespace frugal::onednn {

// Names what a piece of data is to an operation.
enum class Slot : std::uint8_t {
  kSource,
  kWeight,
  kBias,
  kResidual,
  kDestination,
  kSourceGradient,
  kWeightGradient,
  kBiasGradient,
  kDestinationGradient,
  kCount
};
inline constexpr auto kSlotCount = static_cast<std::size_t>(Slot::kCount);

struct Argument {
  Slot slot;
  void* data;
};

// The data of a slot that was given.
inline void* DataOf(std::initializer_list<Argument> arguments, Slot slot) {
  for (const Argument& argument : arguments) {
    if (argument.slot == slot) return argument.data;
  }
  return nullptr;
}

// oneDNN's primitive, some of them in turn, or a kernel of ours in their place, on fixed shapes.
// Callers see only public layouts (channels-last activations, [out, in, kernel] weights); where the
// primitive wants another layout, or has to add to its destination, the operation goes through
// scratch:
//   scratch = [oneDNN's own scratchpad][packed tensors, one after another], each 64-byte aligned.
class Operation {
 public:
  virtual ~Operation() = default;

  virtual std::int64_t ScratchBytes() const = 0;
  // Every slot that the operation was described with must be given.
  virtual void Run(std::initializer_list<Argument> arguments, void* scratch) = 0;
};

}  // namespace frugal::onednn
