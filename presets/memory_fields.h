#pragma once

#include <string>

#include "presets/config/field.h"
#include "presets/config/make_field.h"
#include "presets/training_memory_config.h"

namespace frugal {

// The table of a configuration that holds them, and the path of a field in it: "memory.field".
inline constexpr const char* kMemoryTable = "memory";
std::string MemoryPath(const std::string& field);

// Largest number of MB whose bytes a 64-bit integer holds.
inline constexpr std::int64_t kMostMegabytes = (std::int64_t{1} << 43) - 1;

const Choices<ShardingStrategy>& ShardingStrategyChoices();
const Choices<CheckpointPlanning>& CheckpointPlanningChoices();
const Choices<PlannerCosts>& PlannerCostsChoices();
const Choices<InitializationStrategy>& InitializationStrategyChoices();
const Choices<PagedKinds>& PagedKindsChoices();
const Choices<WeightsFormat>& WeightsFormatChoices();

// All fields of TrainingMemoryConfig: one row per member, in the order of the struct.
const FieldTable& MemoryFields();

// All fields of TensorPoolOptions.
const FieldTable& TensorPoolFields();

}  // namespace frugal
