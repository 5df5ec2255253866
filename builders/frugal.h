#pragma once

// Everything that most programs need of frugal: build a model (AiModelBuilder), look at its plan
// (PlannedTraining, Plan), train and use it (Model), serve it to threads (Predictor), do all of it
// as a program does (RunTraining), or run layers of your own in checkpointed, pooled memory
// (TrainingMemoryManager). A plan's printed text is in builders/report/text/plan_text.h, its notes
// in builders/report/rows/plan_notes.h.

#include "builders/ai_model_builder.h"
#include "builders/config/run_config_reader.h"
#include "builders/inference/predictor.h"
#include "builders/inference/sampling.h"
#include "builders/inference/text_generation.h"
#include "builders/main_guard.h"
#include "builders/run_training.h"
#include "builders/training_memory_manager.h"
#include "presets/training_memory_config.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/dtype.h"
#include "sdk/core/error.h"
#include "sdk/core/shape.h"
#include "sdk/core/version.h"
