#pragma once

#include <optional>

#include "sdk/core/error.h"
#include "sdk/memory/trace.h"

namespace frugal {

// Everything that was taken in a run, with the names of who took it.
struct TracedMemory {
  const MemoryTrace& trace;
  const LabelTable& labels;
};

// Returns the first block that a dry run and a real one do not take alike, in size, purpose, order
// or life, with the name of who asks for it; nothing where all are alike.
std::optional<Diagnostic> FirstDifference(const TracedMemory& dry, const TracedMemory& real);

}  // namespace frugal
