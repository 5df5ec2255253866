#include "builders/config/run_config_fields.h"

#include "builders/config/run_config.h"
#include "builders/config/types/kind_field.h"
#include "builders/config/types/own_options_field.h"
#include "presets/config/field_limits.h"
#include "presets/config/make_field.h"
#include "sdk/optim/schedule_registry.h"

namespace frugal {
namespace {

template <class E>
Choices<E> ChoicesOf(std::initializer_list<E> values) {
  Choices<E> choices;
  for (const E value : values) choices.emplace_back(std::string(NameOf(value)), value);
  return choices;
}

}  // namespace

const FieldTable& ModelFields() {
  static const FieldTable table = MakeFieldTable<ModelOptions>(
      "model", {MakeField("name", &ModelOptions::name, "Name in plans and reports."),
                MakeField("allow_missing", &ModelOptions::allow_missing,
                          "With weights from a file: take what fits, initialize the rest.")});
  return table;
}

namespace {

FieldTable MakeScheduleFields() {
  return MakeFieldTable<ScheduleOptions>(
      "schedule",
      {KindField<ScheduleOptions>("How the learning rate moves.", Schedules(),
                                  static_cast<std::size_t>(ScheduleKind::kCount)),
       MakeField("warmup_steps", &ScheduleOptions::warmup_steps,
                 "Steps over which the rate rises to its value.", {.min = 0}),
       MakeField("final_fraction", &ScheduleOptions::final_fraction,
                 "Share of the rate left at the end.", {.min = 0, .max = 1}),
       MakeField("step_every", &ScheduleOptions::step_every,
                 "Step, exponential: steps from a drop to the next.", {.min = 1}),
       MakeField("step_factor", &ScheduleOptions::step_factor,
                 "Step, exponential, plateau: the rate is multiplied with this at a drop.",
                 {.min = 0, .max = 1, .min_exclusive = true}),
       MakeField("power", &ScheduleOptions::power, "Polynomial: its degree.",
                 {.min = 0, .min_exclusive = true}),
       MakeField("rise_fraction", &ScheduleOptions::rise_fraction,
                 "One cycle: share of the steps in which the rate rises.", {.min = 0, .max = 1}),
       MakeField("start_fraction", &ScheduleOptions::start_fraction,
                 "One cycle: share of the rate in the first step.", {.min = 0, .max = 1}),
       MakeField("restart_every", &ScheduleOptions::restart_every,
                 "Restarts: steps of the first cosine.", {.min = 1}),
       MakeField("restart_factor", &ScheduleOptions::restart_factor,
                 "Restarts: each cosine is so many times as long as the one before.", {.min = 1}),
       MakeField("plateau_patience", &ScheduleOptions::plateau_patience,
                 "Plateau: the rate drops behind so many evaluations that are no better than the "
                 "best by training.best_by.",
                 {.min = 1})});
}

}  // namespace

const FieldTable& ScheduleFields() {
  static GrowingFields fields(MakeScheduleFields);
  return fields.At(Schedules().Rows().size());
}

const FieldTable& TrainingFields() {
  static const FieldTable table = MakeFieldTable<TrainingOptions>(
      "training",
      {MakeField("epochs", &TrainingOptions::epochs, "Passes over the training data.",
                 {.min = 1, .max = kMostEpochs}),
       MakeField("batch_size", &TrainingOptions::batch_size, "Samples of one step.",
                 {.min = 1, .max = kMostPerAxis}),
       MakeField("evaluation_batch_size", &TrainingOptions::evaluation_batch_size,
                 "Samples evaluated at a time.", {.min = 1, .max = kMostPerAxis}),
       MakeField("drop_last", &TrainingOptions::drop_last,
                 "Leave out samples that do not fill a batch."),
       MakeField("max_steps", &TrainingOptions::max_steps, "Stop after so many steps.", {.min = 1}),
       MakeField("seed", &TrainingOptions::seed, "Of weights, order and dropout.", {.min = 0}),
       MakeChoice("backend", &TrainingOptions::backend, "The kernels.",
                  ChoicesOf({BackendKind::kOneDnn, BackendKind::kEigen})),
       MakeChoice(
           "precision", &TrainingOptions::precision,
           "Element type of activations and products; f64 runs on the eigen backend, bf16 on the "
           "onednn one (whose products are f32 where the processor has no bf16 instructions). "
           "f32x3 is f32 with products as sums of three of bf16, on processors with matrix tiles "
           "(AMX).",
           {{"f32", Precision::kF32},
            {"bf16", Precision::kBF16},
            {"f64", Precision::kF64},
            {"f32x3", Precision::kF32x3}}),
       MakeField("threads", &TrainingOptions::threads, "0: OMP_NUM_THREADS, else all cores.",
                 {.min = 0, .max = kMostThreads}),
       MakeField("clip_gradient_norm", &TrainingOptions::clip_gradient_norm,
                 "Largest norm of all gradients together; 0 = no clipping.", {.min = 0}),
       MakeField(
           "gradient_accumulation_steps", &TrainingOptions::gradient_accumulation_steps,
           "A batch goes through in so many micro-batches; their gradients add up to the batch's.",
           {.min = 1, .max = kMostPerAxis, .formerly = "accumulate"}),
       MakeField("loss_chunk_rows", &TrainingOptions::loss_chunk_rows,
                 "Rows of logits at a time in a loss over positions; none: chosen by size.",
                 {.min = 1}),
       MakeField("evaluate", &TrainingOptions::evaluate, "Measure the test part after each epoch."),
       MakeField("evaluate_every", &TrainingOptions::evaluate_every,
                 "Measure the test part behind every so many steps too.", {.min = 1}),
       MakeField("metrics", &TrainingOptions::metrics,
                 "What evaluations measure beside loss and accuracy: top_5, f1, auroc, perplexity, "
                 "rmse, ..."),
       MakeField("best_by", &TrainingOptions::best_by,
                 "What tells the best evaluation: loss, accuracy, or one of the metrics."),
       MakeField("patience", &TrainingOptions::patience,
                 "Stop behind so many evaluations that are no better than the best one.",
                 {.min = 1}),
       MakeField("frozen", &TrainingOptions::frozen,
                 "Parameters under these paths stay as they are."),
       MakeChoice("on_divergence", &TrainingOptions::on_divergence,
                  "Where a loss, a norm of gradients or a weight is not finite: stop, with exit "
                  "code 3 and nothing overwritten, or warn and go on.",
                  ChoicesOf({DivergencePolicy::kStop, DivergencePolicy::kWarn}))});
  return table;
}

const FieldTable& ShardingFields() {
  using O = ShardingOptions;
  static const FieldTable table = MakeFieldTable<O>(
      "sharding",
      {MakeField(
           "data_parallel", &O::data_parallel,
           "Replicas of the network, each on num_devices / data_parallel devices, which share "
           "every batch.",
           {.min = 1}),
       MakeField("zero_stage", &O::zero_stage,
                 "Each replica alone holds, of its part of the parameters: 1, the optimizer's "
                 "state; 2, the gradients too; 3, the values too, which it sends to the others "
                 "whenever they use them.",
                 {.min = 0, .max = 3}),
       MakeField("bucket_kb", &O::bucket_kb,
                 "Gradients of fewer kilobytes are summed over replicas together with others, as "
                 "many as fill it; 0 sums each by itself.",
                 {.min = 0}),
       MakeField("reduction_groups", &O::reduction_groups,
                 "Groups of micro-batches whose gradients are summed each on its own and then in "
                 "order; none means data_parallel, whose replicas are groups.",
                 {.min = 1}),
       MakeChoice("schedule", &O::schedule,
                  "The order of micro-batches with memory.use_pipeline_parallelism.",
                  ChoicesOf({PipelineKind::kGPipe, PipelineKind::k1F1B, PipelineKind::kZeroBubble1,
                             PipelineKind::kZeroBubble2}))});
  return table;
}

const FieldTable& DiffusionFields() {
  using O = DiffusionOptions;
  static const FieldTable table = MakeFieldTable<O>(
      "diffusion",
      {MakeChoice("kind", &O::kind,
                  "What the network learns: the data's targets, or to take noise away.",
                  ChoicesOf({DiffusionKind::kNone, DiffusionKind::kNoise, DiffusionKind::kFlow})),
       MakeChoice(
           "betas", &O::betas, "Noise: how it grows from step to step.",
           ChoicesOf({BetaSchedule::kLinear, BetaSchedule::kScaledLinear, BetaSchedule::kCosine})),
       MakeField("steps", &O::steps, "Noise: steps from data to noise.", {.min = 1, .max = 100000}),
       MakeField("first_beta", &O::first_beta, "Noise: of the first step; not of cosine.",
                 {.min = 0, .max = 1, .min_exclusive = true, .max_exclusive = true}),
       MakeField("last_beta", &O::last_beta, "Noise: of the last step; not of cosine.",
                 {.min = 0, .max = 1, .min_exclusive = true, .max_exclusive = true}),
       MakeChoice("prediction", &O::prediction, "Noise: what the network says.",
                  ChoicesOf({PredictionKind::kEpsilon, PredictionKind::kVelocity,
                             PredictionKind::kSample})),
       MakeChoice("direction", &O::direction, "Flow: the time of data.",
                  {{"data_at_zero", FlowDirection::kDataAtZero},
                   {"data_at_one", FlowDirection::kDataAtOne}}),
       MakeChoice("times", &O::times, "Flow: how training times are drawn.",
                  ChoicesOf({FlowTimes::kUniform, FlowTimes::kLogitNormal})),
       MakeField("label_dropout", &O::label_dropout,
                 "Share of labels replaced by \"none\" in training, for guidance.",
                 {.min = 0, .max = 1, .max_exclusive = true}),
       MakeChoice("sampler", &O::sampler, "How samples are made; none: ddim, or euler_flow.",
                  ChoicesOf({SamplerKind::kDdpm, SamplerKind::kDdim, SamplerKind::kDpmSolver,
                             SamplerKind::kEulerFlow})),
       MakeField("sampler_steps", &O::sampler_steps, "Steps of a sample.",
                 {.min = 1, .max = 100000}),
       MakeField("guidance", &O::guidance,
                 "How far a sample follows its label; 1: as the network says.", {.min = 0})});
  return table;
}

const FieldTable& SnapshotFields() {
  using O = SnapshotOptions;
  static const FieldTable table = MakeFieldTable<O>(
      "snapshots",
      {MakeField("directory", &O::directory,
                 "Where snapshots are kept, from which --resume goes on; none: none are saved."),
       MakeField("every_n_steps", &O::every_n_steps,
                 "Save one behind every so many steps. Without it and every_minutes: behind each "
                 "epoch.",
                 {.min = 1}),
       MakeField("every_minutes", &O::every_minutes, "Save one when so many minutes have passed.",
                 {.min = 0, .min_exclusive = true}),
       MakeField("keep_last", &O::keep_last, "The last so many stay.", {.min = 1}),
       MakeField("keep_best", &O::keep_best,
                 "The best so many stay too; evaluations that are among them are saved.",
                 {.min = 0}),
       MakeField("monitor", &O::monitor,
                 "What tells the best: loss, accuracy, or one of training.metrics."),
       MakeChoice("mode", &O::mode, "Which values of it are better; none: as is its nature.",
                  ChoicesOf({MonitorMode::kMin, MonitorMode::kMax})),
       MakeField("on_exit", &O::on_exit,
                 "Save one behind the last step, and where a signal or a failing step ends the "
                 "training."),
       MakeField("background", &O::background,
                 "Write them beside the next steps, which copy what they change before it is "
                 "written to planned memory; else training waits."),
       MakeChoice("when_busy", &O::when_busy,
                  "A snapshot is due while the one before is still being written: wait for it, or "
                  "skip the new one.",
                  ChoicesOf({BusyPolicy::kWait, BusyPolicy::kSkip}))});
  return table;
}

const FieldTable& OutputFields() {
  static const FieldTable table = MakeFieldTable<OutputOptions>(
      "output",
      {MakeField("weights", &OutputOptions::weights,
                 "Where the trained weights go: safetensors, or by the name .json or .bin."),
       MakeField("best_weights", &OutputOptions::best_weights,
                 "Where the weights of the best evaluation go, as soon as it was."),
       MakeField("log", &OutputOptions::log,
                 "Where steps and evaluations are noted as they come: .csv, else a JSON object a "
                 "line."),
       MakeField("tensorboard", &OutputOptions::tensorboard,
                 "Directory where events for TensorBoard are written as they come."),
       MakeField("report", &OutputOptions::report, "Where the HTML report goes."),
       MakeField("memory_report", &OutputOptions::memory_report,
                 "Where the memory report goes: a page (.html), JSON (.json) or a Chrome trace "
                 "(.trace.json). A step is recorded for it."),
       MakeField("summary", &OutputOptions::summary, "Where the JSON summary goes.")});
  return table;
}

}  // namespace frugal
