#pragma once

#include <string>
#include <string_view>

#include "sdk/memory/step_memory.h"

namespace frugal {

// The arena of a step as a picture: time to the right, addresses upwards, a rectangle for each of
// its largest blocks with what it is under the pointer. HTML; empty where there is no arena.
std::string ArenaMap(const StepMemory& memory);

// Lets pictures of the class "zoom" be zoomed by the wheel, moved by dragging, and shown whole by a
// double click.
std::string_view ZoomScript();

}  // namespace frugal
