#include "builders/config/run_rules.h"

#include <algorithm>

#include "builders/config/data_rules.h"
#include "builders/config/dataset.h"
#include "builders/config/loss_rules.h"
#include "builders/config/optimizer_rules.h"
#include "builders/config/owned_fields.h"
#include "builders/config/sharding_rules.h"
#include "builders/config/snapshot_rules.h"
#include "sdk/data/dataset_info.h"

namespace frugal {
namespace {

void CheckPrecision(const RunConfig& config, Diagnostics& diagnostics) {
  const TrainingOptions& training = config.training;
  const bool reference = training.backend == BackendKind::kEigen;
  if (training.precision == Precision::kF32) return;
  const bool splits = training.precision == Precision::kF32x3;
  if (splits || training.precision == Precision::kBF16) {
    const std::string required =
        std::string("precision = \"") + (splits ? "f32x3" : "bf16") + "\" runs on ";
    if (reference) {
      diagnostics.Add(config.origins.PlaceOf("training.precision"),
                      {.where = "training",
                       .required = required + "the onednn backend",
                       .given = "backend = \"eigen\"",
                       .advice = "set backend = \"onednn\", or precision = \"f32\""});
    } else if (splits && !HasSplitProducts()) {
      diagnostics.Add(config.origins.PlaceOf("training.precision"),
                      {.where = "training",
                       .required = required + "processors with matrix tiles (AMX)",
                       .given = "this one has none",
                       .advice = "set precision = \"f32\""});
    }
    return;
  }
  if (reference) return;
  diagnostics.Add(config.origins.PlaceOf("training.precision"),
                  {.where = "training",
                   .required = "precision = \"f64\" runs on the reference backend only",
                   .given = "backend = \"onednn\"",
                   .advice = "set backend = \"eigen\", or precision = \"f32\""});
}

void CheckSchedule(const RunConfig& config, Diagnostics& diagnostics) {
  const ScheduleOptions& o = config.schedule;
  const ScheduleOptions d;
  using Kind = ScheduleKind;
  const std::vector<std::string> falls = NamesOf<Kind>(
      {Kind::kCosine, Kind::kLinear, Kind::kPolynomial, Kind::kOneCycle, Kind::kRestarts});
  const std::vector<std::string> steps = NamesOf<Kind>({Kind::kStep, Kind::kExponential});
  const std::vector<std::string> drops =
      NamesOf<Kind>({Kind::kStep, Kind::kExponential, Kind::kPlateau});
  const std::vector<std::string> cycle = NamesOf<Kind>({Kind::kOneCycle});
  const std::vector<std::string> restarts = NamesOf<Kind>({Kind::kRestarts});
  const std::string kind = o.name.empty() ? std::string(NameOf(o.kind)) : o.name;
  CheckOwnedFields(config, {.section = "schedule", .kind = kind, .owner = "the schedule "},
                   {{"final_fraction", o.final_fraction != d.final_fraction, falls},
                    {"step_every", o.step_every != d.step_every, steps},
                    {"step_factor", o.step_factor != d.step_factor, drops},
                    {"power", o.power != d.power, NamesOf<Kind>({Kind::kPolynomial})},
                    {"rise_fraction", o.rise_fraction != d.rise_fraction, cycle},
                    {"start_fraction", o.start_fraction != d.start_fraction, cycle},
                    {"restart_every", o.restart_every != d.restart_every, restarts},
                    {"restart_factor", o.restart_factor != d.restart_factor, restarts},
                    {"plateau_patience", o.plateau_patience != d.plateau_patience,
                     NamesOf<Kind>({Kind::kPlateau})}},
                   diagnostics);
}

void CheckDiffusion(const RunConfig& config, Diagnostics& diagnostics) {
  using Kind = DiffusionKind;
  const DiffusionOptions& o = config.diffusion;
  const DiffusionOptions d;
  const std::vector<std::string> noise = NamesOf<Kind>({Kind::kNoise});
  const std::vector<std::string> flow = NamesOf<Kind>({Kind::kFlow});
  const std::vector<std::string> both = NamesOf<Kind>({Kind::kNoise, Kind::kFlow});
  const std::string kind(NameOf(o.kind));
  CheckOwnedFields(config, {.section = "diffusion", .kind = kind, .owner = "kind = "},
                   {{"betas", o.betas != d.betas, noise},
                    {"steps", o.steps != d.steps, noise},
                    {"first_beta", o.first_beta != d.first_beta, noise},
                    {"last_beta", o.last_beta != d.last_beta, noise},
                    {"prediction", o.prediction != d.prediction, noise},
                    {"direction", o.direction != d.direction, flow},
                    {"times", o.times != d.times, flow},
                    {"label_dropout", o.label_dropout != d.label_dropout, both},
                    {"sampler", o.sampler.has_value(), both},
                    {"sampler_steps", o.sampler_steps != d.sampler_steps, both},
                    {"guidance", o.guidance != d.guidance, both}},
                   diagnostics);
  const bool flow_sampler = o.sampler == SamplerKind::kEulerFlow;
  if (!o.sampler || o.kind == DiffusionKind::kNone ||
      flow_sampler == (o.kind == DiffusionKind::kFlow)) {
    return;
  }
  diagnostics.Add(
      config.origins.PlaceOf("diffusion.sampler"),
      {.where = "diffusion",
       .required = "a flow is sampled by euler_flow, noise by ddpm, ddim or dpm_solver",
       .given = "sampler = \"" + std::string(NameOf(*o.sampler)) + "\" and kind = \"" + kind + "\"",
       .advice = "leave sampler out, or choose one of the kind"});
}

void CheckAccumulation(const RunConfig& config, Diagnostics& diagnostics) {
  const TrainingOptions& training = config.training;
  if (training.gradient_accumulation_steps > 1 && !CountsSamplesAlike(config.loss)) {
    diagnostics.Add(
        config.origins.PlaceOf("training.gradient_accumulation_steps"),
        {.where = "training",
         .required = "parts of a batch count by their samples",
         .given = "gradient_accumulation_steps = " +
                  std::to_string(training.gradient_accumulation_steps) + " and a loss that " +
                  UnequalCount(config.loss) + ", of which parts may have different numbers",
         .advice = "use gradient_accumulation_steps = 1, or no " + UnequalKey(config.loss)});
  }
  if (training.gradient_accumulation_steps <= training.batch_size) return;
  diagnostics.Add(config.origins.PlaceOf("training.gradient_accumulation_steps"),
                  {.where = "training",
                   .required = "a batch goes through in at most as many parts as it has samples",
                   .given = "gradient_accumulation_steps = " +
                            std::to_string(training.gradient_accumulation_steps) +
                            " and batch_size = " + std::to_string(training.batch_size),
                   .advice = "use a smaller gradient_accumulation_steps, or a larger batch"});
}

void CheckNetwork(const RunConfig& config, Diagnostics& diagnostics) {
  const bool has_layers = !config.model.layers.empty();
  if (config.model.network) return;  // which has replaced both
  if (has_layers != config.model.architecture.has_value()) return;
  diagnostics.Add(config.origins.PlaceOf("model"),
                  {.where = "model",
                   .required = "a model is a list of layers or a named architecture",
                   .given = has_layers ? "there are both" : "there is neither",
                   .advice = "write [[model.layers]], or family and [model.config], or preset; "
                             "in code, AiModelBuilder::Layers(), Architecture() or Network()"});
}

void CheckWeights(const RunConfig& config, Diagnostics& diagnostics) {
  if (!config.model.allow_missing) return;
  if (config.memory.default_initialization_strategy == InitializationStrategy::kFromFile) return;
  diagnostics.Add(config.origins.PlaceOf("model.allow_missing"),
                  {.where = "model",
                   .required = "allow_missing is about weights from a file",
                   .given = "memory.default_initialization_strategy is not \"FromFile\"",
                   .advice = "set it and weights_file_path, or leave allow_missing out"});
}

}  // namespace

void CheckRun(const RunConfig& config, bool custom_data, Diagnostics& diagnostics) {
  CheckPrecision(config, diagnostics);
  if (!custom_data) CheckDataFields(config, diagnostics);
  CheckLoss(config, custom_data || RegisteredRow(config.data) != nullptr, diagnostics);
  CheckDiffusion(config, diagnostics);
  CheckOptimizer(config, diagnostics);
  CheckSchedule(config, diagnostics);
  CheckWeights(config, diagnostics);
  CheckNetwork(config, diagnostics);
  CheckAccumulation(config, diagnostics);
  CheckShardingRules(config, diagnostics);
  CheckSnapshotRules(config, diagnostics);
}

}  // namespace frugal
