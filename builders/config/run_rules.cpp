#include "builders/config/run_rules.h"

#include <algorithm>

#include "builders/config/data_rules.h"
#include "sdk/data/dataset_info.h"

namespace frugal {
namespace {

SourceLocation PlaceOf(const RunConfig& config, const std::string& key) {
  return config.origins.PlaceOf(key);
}

void CheckPrecision(const RunConfig& config, Diagnostics& diagnostics) {
  const TrainingOptions& training = config.training;
  const bool reference = training.backend == BackendKind::kEigen;
  if (training.precision == Precision::kF32) return;
  if (training.precision == Precision::kBF16) {
    if (!reference) return;
    diagnostics.Add(PlaceOf(config, "training.precision"),
                    {.where = "training",
                     .required = "precision = \"bf16\" runs on the onednn backend",
                     .given = "backend = \"eigen\"",
                     .advice = "set backend = \"onednn\", or precision = \"f32\""});
    return;
  }
  if (reference) return;
  diagnostics.Add(PlaceOf(config, "training.precision"),
                  {.where = "training",
                   .required = "precision = \"f64\" runs on the reference backend only",
                   .given = "backend = \"onednn\"",
                   .advice = "set backend = \"eigen\", or precision = \"f32\""});
}

void CheckLoss(const RunConfig& config, bool custom_data, Diagnostics& diagnostics) {
  if (config.diffusion.kind != DiffusionKind::kNone) {
    const bool chosen = config.origins.Of("loss.kind").kind != OriginKind::kDefault;
    if (!chosen || !TakesLabels(config.loss.kind)) return;
    diagnostics.Add(PlaceOf(config, "loss.kind"),
                    {.where = "loss",
                     .required = "diffusion compares values: mse, l1 or huber",
                     .given = "kind = \"" + std::string(NameOf(config.loss.kind)) + "\"",
                     .advice = "leave it out (mse), or choose one of them"});
    return;
  }
  if (custom_data || TakesLabels(config.loss.kind)) return;
  diagnostics.Add(PlaceOf(config, "loss.kind"),
                  {.where = "loss",
                   .required = "the data has class labels, which cross_entropy takes",
                   .given = "kind = \"" + std::string(NameOf(config.loss.kind)) + "\"",
                   .advice = "set kind = \"cross_entropy\", or bring data with real targets"});
}

// Returns true where somebody meant the field of a section whose `kind` decides if it is read: it
// has another value than its default, or a file or a command line names it. Where code replaced the
// section, what the file said of it no longer counts.
bool IsMeant(const RunConfig& config, const std::string& section, const std::string& key,
             bool is_set) {
  const OriginKind origin = config.origins.Of(section + "." + key).kind;
  const bool by_code = config.origins.Of(section + ".kind").kind == OriginKind::kCode;
  return is_set || origin == OriginKind::kCommandLine || (origin == OriginKind::kFile && !by_code);
}

// Tells which optimizers read a field; set for another, it would be dead.
struct OptimizerField {
  const char* key;
  std::vector<OptimizerKind> kinds;
  bool is_set;
};

std::vector<OptimizerField> OptimizerFieldsInUse(const RunConfig& config) {
  using Kind = OptimizerKind;
  const std::vector<Kind> moments = {Kind::kAdam, Kind::kAdamW, Kind::kNAdam, Kind::kRAdam,
                                     Kind::kAdamax};
  std::vector<Kind> with_eps = {Kind::kRmsProp, Kind::kAdagrad, Kind::kAdadelta};
  with_eps.insert(with_eps.begin(), moments.begin(), moments.end());
  const OptimizerOptions& options = config.optimizer;
  const OptimizerOptions defaults;
  return {{"momentum", {Kind::kSgd, Kind::kRmsProp}, options.momentum != defaults.momentum},
          {"nesterov", {Kind::kSgd}, options.nesterov},
          {"beta1", moments, options.beta1 != defaults.beta1},
          {"beta2", moments, options.beta2 != defaults.beta2},
          {"alpha", {Kind::kRmsProp}, options.alpha != defaults.alpha},
          {"rho", {Kind::kAdadelta}, options.rho != defaults.rho},
          {"rate_decay", {Kind::kAdagrad}, options.rate_decay != defaults.rate_decay},
          {"momentum_decay", {Kind::kNAdam}, options.momentum_decay != defaults.momentum_decay},
          {"eps", with_eps, options.eps.has_value()}};
}

std::string ListOf(const std::vector<OptimizerKind>& kinds) {
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    text += i == 0 ? "" : i + 1 < kinds.size() ? ", " : " and ";
    text += NameOf(kinds[i]);
  }
  return text;
}

void CheckOptimizer(const RunConfig& config, Diagnostics& diagnostics) {
  const OptimizerOptions& options = config.optimizer;
  const auto refuse = [&](const std::string& key, const std::string& required,
                          const std::string& advice) {
    diagnostics.Add(PlaceOf(config, "optimizer." + key),
                    {.where = "optimizer",
                     .required = required,
                     .given = "kind = \"" + std::string(NameOf(options.kind)) + "\"",
                     .advice = advice});
  };
  for (const OptimizerField& field : OptimizerFieldsInUse(config)) {
    const std::string key = field.key;
    if (std::ranges::find(field.kinds, options.kind) != field.kinds.end()) continue;
    if (!IsMeant(config, "optimizer", key, field.is_set)) continue;
    refuse(key, key + " belongs to " + ListOf(field.kinds), "leave it out, or change the kind");
  }
  if (options.kind == OptimizerKind::kSgd && options.nesterov && options.momentum == 0) {
    refuse("nesterov", "nesterov needs a momentum above 0", "set momentum, e.g. 0.9");
  }
}

// Only rules whose state may be rounded have kernels for it, and only in f32.
void CheckState(const RunConfig& config, Diagnostics& diagnostics) {
  using Kind = OptimizerKind;
  const OptimizerOptions& options = config.optimizer;
  if (options.state == StateFormat::kF32) return;
  const auto refuse = [&](const std::string& required, const std::string& given,
                          const std::string& advice) {
    diagnostics.Add(PlaceOf(config, "optimizer.state"),
                    {.where = "optimizer", .required = required, .given = given, .advice = advice});
  };
  const std::string format = "state = \"" + std::string(NameOf(options.state)) + "\"";
  const std::vector<Kind> kinds = {Kind::kSgd, Kind::kAdam, Kind::kAdamW};
  if (std::ranges::find(kinds, options.kind) == kinds.end()) {
    refuse(format + " belongs to " + ListOf(kinds),
           "kind = \"" + std::string(NameOf(options.kind)) + "\"",
           "leave it out, or change the kind");
  } else if (options.kind == Kind::kSgd && options.momentum == 0) {
    refuse(format + " needs a momentum above 0: there is no state without",
           "kind = \"sgd\" and momentum = 0", "set momentum, e.g. 0.9, or leave state out");
  } else if (config.training.precision == Precision::kF64) {
    refuse(format + " is rounded from f32", "precision = \"f64\"",
           "set precision = \"f32\", or leave state out");
  }
}

void CheckSlow(const RunConfig& config, Diagnostics& diagnostics) {
  const OptimizerOptions& options = config.optimizer;
  const bool changed = options.lr_multiplier != OptimizerOptions().lr_multiplier;
  if (!options.lr_multiplier_for.empty() || !IsMeant(config, "optimizer", "lr_multiplier", changed))
    return;
  diagnostics.Add(
      PlaceOf(config, "optimizer.lr_multiplier"),
      {.where = "optimizer",
       .required = "lr_multiplier is about the paths in lr_multiplier_for",
       .given = "lr_multiplier_for names none",
       .advice = "set lr_multiplier_for, e.g. to [\"layer4\"], or leave lr_multiplier out"});
}

// Fields that only another kind of the same section reads: set by hand, they would be dead.
void CheckSchedule(const RunConfig& config, Diagnostics& diagnostics) {
  struct Owner {
    const char* key;
    ScheduleKind kind;
    bool is_set;
  };
  const ScheduleOptions& schedule = config.schedule;
  const ScheduleOptions defaults;
  for (const auto& [key, kind, is_set] :
       {Owner{"final_fraction", ScheduleKind::kCosine,
              schedule.final_fraction != defaults.final_fraction},
        Owner{"step_every", ScheduleKind::kStep, schedule.step_every != defaults.step_every},
        Owner{"step_factor", ScheduleKind::kStep, schedule.step_factor != defaults.step_factor}}) {
    if (schedule.kind == kind || !IsMeant(config, "schedule", key, is_set)) continue;
    diagnostics.Add(PlaceOf(config, std::string("schedule.") + key),
                    {.where = "schedule",
                     .required = std::string(key) + " belongs to the schedule \"" +
                                 std::string(NameOf(kind)) + "\"",
                     .given = "kind = \"" + std::string(NameOf(schedule.kind)) + "\"",
                     .advice = "leave it out, or change the kind"});
  }
}

void CheckLossFields(const RunConfig& config, Diagnostics& diagnostics) {
  struct Owner {
    const char* key;
    LossKind kind;
    bool is_set;
  };
  const LossOptions& loss = config.loss;
  const LossOptions defaults;
  for (const auto& [key, kind, is_set] :
       {Owner{"label_smoothing", LossKind::kCrossEntropy,
              loss.label_smoothing != defaults.label_smoothing},
        Owner{"ignore_index", LossKind::kCrossEntropy, loss.ignore_index != defaults.ignore_index},
        Owner{"delta", LossKind::kHuber, loss.delta != defaults.delta}}) {
    if (loss.kind == kind || !IsMeant(config, "loss", key, is_set)) continue;
    diagnostics.Add(PlaceOf(config, std::string("loss.") + key),
                    {.where = "loss",
                     .required = std::string(key) + " belongs to the loss \"" +
                                 std::string(NameOf(kind)) + "\"",
                     .given = "kind = \"" + std::string(NameOf(loss.kind)) + "\"",
                     .advice = "leave it out, or change the kind"});
  }
}

// Fields of [diffusion] that the kind does not read.
void CheckDiffusion(const RunConfig& config, Diagnostics& diagnostics) {
  struct Owner {
    const char* key;
    bool noise;  // read by this kind
    bool flow;
    bool is_set;
  };
  const DiffusionOptions& o = config.diffusion;
  const DiffusionOptions d;
  for (const auto& [key, noise, flow, is_set] :
       {Owner{"betas", true, false, o.betas != d.betas},
        Owner{"steps", true, false, o.steps != d.steps},
        Owner{"first_beta", true, false, o.first_beta != d.first_beta},
        Owner{"last_beta", true, false, o.last_beta != d.last_beta},
        Owner{"prediction", true, false, o.prediction != d.prediction},
        Owner{"direction", false, true, o.direction != d.direction},
        Owner{"times", false, true, o.times != d.times},
        Owner{"label_dropout", true, true, o.label_dropout != d.label_dropout},
        Owner{"sampler", true, true, o.sampler.has_value()},
        Owner{"sampler_steps", true, true, o.sampler_steps != d.sampler_steps},
        Owner{"guidance", true, true, o.guidance != d.guidance}}) {
    const bool read = o.kind == DiffusionKind::kNoise  ? noise
                      : o.kind == DiffusionKind::kFlow ? flow
                                                       : false;
    if (read || !IsMeant(config, "diffusion", key, is_set)) continue;
    diagnostics.Add(PlaceOf(config, std::string("diffusion.") + key),
                    {.where = "diffusion",
                     .required = std::string(key) + " belongs to kind = " +
                                 (noise && flow ? "\"noise\" or \"flow\""
                                  : noise       ? "\"noise\""
                                                : "\"flow\""),
                     .given = "kind = \"" + std::string(NameOf(o.kind)) + "\"",
                     .advice = "leave it out, or change the kind"});
  }
  const bool flow_sampler = o.sampler == SamplerKind::kEulerFlow;
  if (!o.sampler || o.kind == DiffusionKind::kNone ||
      flow_sampler == (o.kind == DiffusionKind::kFlow)) {
    return;
  }
  diagnostics.Add(PlaceOf(config, "diffusion.sampler"),
                  {.where = "diffusion",
                   .required = "a flow is sampled by euler_flow, noise by ddpm, ddim or dpm_solver",
                   .given = "sampler = \"" + std::string(NameOf(*o.sampler)) + "\" and kind = \"" +
                            std::string(NameOf(o.kind)) + "\"",
                   .advice = "leave sampler out, or choose one of the kind"});
}

void CheckAccumulation(const RunConfig& config, Diagnostics& diagnostics) {
  const TrainingOptions& training = config.training;
  const bool leaves_out = config.loss.ignore_index != LossOptions().ignore_index;
  if (training.gradient_accumulation_steps > 1 && leaves_out) {
    diagnostics.Add(
        PlaceOf(config, "training.gradient_accumulation_steps"),
        {.where = "training",
         .required = "parts of a batch count by their samples",
         .given = "gradient_accumulation_steps = " +
                  std::to_string(training.gradient_accumulation_steps) +
                  " and a loss that leaves out labels (ignore_index), of which parts may "
                  "have different numbers",
         .advice = "use gradient_accumulation_steps = 1, or no ignore_index"});
  }
  if (training.gradient_accumulation_steps <= training.batch_size) return;
  diagnostics.Add(PlaceOf(config, "training.gradient_accumulation_steps"),
                  {.where = "training",
                   .required = "a batch goes through in at most as many parts as it has samples",
                   .given = "gradient_accumulation_steps = " +
                            std::to_string(training.gradient_accumulation_steps) +
                            " and batch_size = " + std::to_string(training.batch_size),
                   .advice = "use a smaller gradient_accumulation_steps, or a larger batch"});
}

void CheckNetwork(const RunConfig& config, Diagnostics& diagnostics) {
  const bool has_layers = !config.model.layers.empty();
  if (has_layers != config.model.architecture.has_value()) return;
  diagnostics.Add(PlaceOf(config, "model"),
                  {.where = "model",
                   .required = "a model is a list of layers or a named architecture",
                   .given = has_layers ? "there are both" : "there is neither",
                   .advice = "write [[model.layers]], or family and [model.config], or preset; "
                             "in code, AiModelBuilder::Layers() or Architecture()"});
}

void CheckWeights(const RunConfig& config, Diagnostics& diagnostics) {
  if (!config.model.allow_missing) return;
  if (config.memory.default_initialization_strategy == InitializationStrategy::kFromFile) return;
  diagnostics.Add(PlaceOf(config, "model.allow_missing"),
                  {.where = "model",
                   .required = "allow_missing is about weights from a file",
                   .given = "memory.default_initialization_strategy is not \"FromFile\"",
                   .advice = "set it and weights_file_path, or leave allow_missing out"});
}

}  // namespace

void CheckRun(const RunConfig& config, bool custom_data, Diagnostics& diagnostics) {
  CheckPrecision(config, diagnostics);
  if (!custom_data) CheckDataFields(config, diagnostics);
  CheckLoss(config, custom_data, diagnostics);
  CheckLossFields(config, diagnostics);
  CheckDiffusion(config, diagnostics);
  CheckOptimizer(config, diagnostics);
  CheckState(config, diagnostics);
  CheckSlow(config, diagnostics);
  CheckSchedule(config, diagnostics);
  CheckWeights(config, diagnostics);
  CheckNetwork(config, diagnostics);
  CheckAccumulation(config, diagnostics);
}

}  // namespace frugal
