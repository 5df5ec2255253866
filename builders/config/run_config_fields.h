#pragma once

#include "presets/config/field.h"

namespace frugal {

// The field tables of all sections of a configuration file but [memory].
const FieldTable& ModelFields();
const FieldTable& DataFields();
const FieldTable& LossFields();
const FieldTable& OptimizerFields();
const FieldTable& ScheduleFields();
const FieldTable& TrainingFields();
const FieldTable& DiffusionFields();
const FieldTable& ShardingFields();
const FieldTable& OutputFields();

}  // namespace frugal
