#pragma once

#include "builders/config/dataset_registry.h"
#include "builders/config/types/loss_fields.h"
#include "builders/config/types/optimizer_registry.h"
#include "presets/config/field.h"

namespace frugal {

// The field tables of all sections of a configuration file but [memory].
const FieldTable& ModelFields();
const FieldTable& ScheduleFields();
const FieldTable& TrainingFields();
const FieldTable& DiffusionFields();
const FieldTable& ShardingFields();
const FieldTable& SnapshotFields();
const FieldTable& OutputFields();

}  // namespace frugal
