#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "builders/execute/allocator_statistics.h"
#include "builders/execute/training_result.h"
#include "builders/plan/planned_training.h"
#include "sdk/memory/simultaneous_buffers.h"
#include "sdk/memory/step_memory.h"
#include "sdk/plan/budget_curve.h"

namespace frugal {

class Executor;

// A step of one device, block by block.
struct StepReport {
  std::string name;  // "train step of 32"
  StepMemory memory;
};

// The memory of one device: as planned, as a recorded training step measured it, and as it is now,
// as far as each of these is known.
struct DeviceReport {
  std::int64_t device = 0;
  std::optional<StepReport> planned{};              // the step that the plan peaks in
  std::vector<SimultaneousBuffers> side_by_side{};  // at its peak, that updates in place would save
  std::optional<StepReport> planned_training{};     // a training step, where that is another one
  std::optional<StepReport> measured{};
  std::optional<DeviceMemory> now{};
};

// The whole process beside what tensors take.
struct ProcessMemory {
  std::int64_t resident_bytes = 0;
  std::int64_t peak_resident_bytes = 0;
  std::int64_t reserved_bytes = 0;  // for tensors, of all devices of the process
  // Resident and not for tensors: code, libraries, kernels' own tables. Never below 0: what is
  // reserved need not be resident.
  std::int64_t OtherBytes() const {
    return resident_bytes > reserved_bytes ? resident_bytes - reserved_bytes : 0;
  }
};

// Says who holds a training's memory. Texts, pages and files are made of it: MemoryText,
// MemoryJson, MemoryPage, MemoryChromeTrace.
struct MemoryReport {
  std::string model;
  std::int64_t planned_bytes = 0;  // the plan's peak; 0 where nothing is planned
  std::vector<DeviceReport> devices;
  std::map<std::string, std::string> layers{};  // what they are, by their paths
  std::optional<BudgetCurve> curve{};
  std::string no_curve{};  // why there is none, where one was asked for
  std::optional<ProcessMemory> process{};
  std::vector<MemoryAfterStep> growth{};  // of a training, at most some hundred of its steps
};

// Reports a plan. Touches no data and no weights. With a curve, other ways to train are planned
// too, which takes as long as some twenty plans.
MemoryReport PlannedMemoryReport(const PlannedTraining& planned, bool with_curve);

// Adds what an executor's devices hold now, and the process.
void AddNow(const Executor& executor, MemoryReport& report);
// Adds a recorded training step of each device.
void AddMeasured(std::vector<StepMemory> steps, std::int64_t batch, MemoryReport& report);

}  // namespace frugal
