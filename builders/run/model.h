#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "builders/execute/data_sources.h"
#include "builders/plan/planned_training.h"
#include "builders/run/one_thread_guard.h"
#include "builders/run/training_observer.h"
#include "builders/snapshot/training_progress.h"
#include "sdk/train/generate.h"

namespace frugal {

class EmaScope;
class Executor;
class Predictor;
struct MemoryReport;
struct SnapshotStart;

// Throws UsageError: the model was moved into another.
[[noreturn]] void RefuseMovedModel();

// Holds what a model consists of. A model that was moved from has it no more, and says so when
// used.
template <class T>
class ModelPart {
 public:
  explicit ModelPart(std::unique_ptr<T> part) : part_(std::move(part)) {}

  T* operator->() const { return &**this; }
  T& operator*() const {
    if (part_ == nullptr) RefuseMovedModel();
    return *part_;
  }

 private:
  std::unique_ptr<T> part_;
};

// Says what a model is made for that was trained before.
struct InferenceOptions {
  // Samples of a prediction that go through at a time, which is what is planned; 0 stands for
  // training.evaluation_batch_size.
  std::int64_t batch = 0;
  bool evaluates = false;  // on the test part of the configuration's [data]
  // Values on top of the configuration that the file has: "training.threads=1".
  std::vector<std::string> overrides{};
};

// A planned network with its memory. Lives by its plan: what a step takes was planned first. After
// it was moved into another model, every call throws UsageError. Threads: one uses it at a time,
// which is checked: what runs, or looks at values or memory, throws UsageError while another thread
// does. Threads that predict share a Predictor.
class Model {
 public:
  // With own data, `sources` holds it; otherwise data sets are read when they are first needed.
  // Takes parameter memory here, or, with lazy initialization, when each is first touched.
  explicit Model(PlannedTraining planned, DataSources sources = {});
  // Makes a model for inference of a weight file alone, which describes its network
  // (weights_description.h). Its plan has the weights, predictions in batches of options.batch and,
  // where it evaluates, the test part: no gradients, no optimizer's state. Throws WeightFileError
  // where the file describes no network, e.g. since a function of a program made it, and what
  // ReadRunConfig and LoadWeights throw.
  static Model FromFile(const std::string& path, const InferenceOptions& options = {});
  // Makes a model for inference with copies of this one's weights, of their averages where the
  // optimizer keeps them; `batch` is as in InferenceOptions. It does not evaluate.
  Model ForInference(std::int64_t batch = 0) const;

  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const PlannedTraining& planned() const { return *planned_; }
  const Plan& plan() const { return planned_->plan; }
  const RunConfig& config() const { return planned_->config; }
  const EpochSchedule& schedule() const { return planned_->schedule; }
  const DataLayout& layout() const { return planned_->layout; }
  // Returns what the network takes, with the shapes of the data.
  const NetworkInputs& inputs() const { return planned_->inputs; }
  // Returns what the network makes beside its first output.
  const NetworkOutputs& more_outputs() const { return planned_->more_outputs; }
  // Null where the data have the targets.
  const DiffusionProcess* diffusion() const { return planned_->diffusion.get(); }
  // False for a model that was made for inference, which refuses to train.
  bool trains() const { return planned_->trains(); }
  // One name for each class, or none where nothing names them.
  std::vector<std::string> class_names() const;
  std::int64_t ParameterCount() const { return plan().parameter_count; }
  const std::vector<Parameter*>& parameters() const { return planned_->parameters; }
  Sequential& network() { return *planned_->network; }

  // The whole program: epochs, evaluation, measurements. Called again, it goes on from the weights,
  // the optimizer state and the epoch that there are, with the schedule from its beginning. Throws
  // DivergenceError where training.on_divergence is kStop and a loss, a norm of gradients or, at
  // the end of an epoch, a weight is not finite. After a loss or a norm the weights are those of
  // the step before.
  TrainingResult Train(TrainingObserver* observer = nullptr, const TrainOptions& options = {});

  // One step on the given training samples; for loops of one's own. Throws DivergenceError where a
  // number is not finite and training.on_divergence is kStop: no weight has changed then.
  StepResult TrainStep(std::span<const std::int64_t> samples);
  // One step on values of the program's own, each [count, ...] row-major: the data's inputs, the
  // first and then DataLayout::conditions, and what outputs are compared with, labels or values,
  // the first and then DataLayout::more_targets. In diffusion labels are the targets, if the data
  // have any; otherwise there are none. Throws UsageError where they do not fit.
  StepResult TrainStep(std::span<const InputValues> inputs, std::span<const InputValues> targets,
                       std::int64_t count);
  // The test or the validation part. Throws UsageError where there is none.
  EvaluationResult Evaluate(DatasetPart part = DatasetPart::kTest);
  // The network's outputs [N, ...] for inputs [N, sample...], in evaluation mode. Many samples go
  // through in parts, as many at a time as are planned.
  std::vector<float> Predict(std::span<const float> inputs, std::int64_t count);
  // Predicts in the same way for token numbers [N, T], where the data are tokens.
  std::vector<float> PredictTokens(std::span<const std::int64_t> tokens, std::int64_t count);
  // Predicts in the same way for all inputs of a network that takes several, in the order of
  // inputs().
  std::vector<float> PredictInputs(std::span<const InputValues> inputs, std::int64_t count);
  // All outputs of a network that makes several, the first in front, the others as more_outputs()
  // has them; of all inputs too.
  PredictedValues PredictOutputs(std::span<const InputValues> inputs, std::int64_t count);

  // Continues a text of tokens; for causal networks over tokens. Takes its memory from the heap,
  // beside the plan and what is measured against it.
  std::vector<std::int64_t> Generate(std::span<const std::int64_t> prompt,
                                     const GenerateOptions& options);

  // While it lives, the weights are their moving averages, where the optimizer keeps them.
  class EmaScope {
   public:
    explicit EmaScope(Model& model);
    EmaScope(const EmaScope&) = delete;
    EmaScope& operator=(const EmaScope&) = delete;
    ~EmaScope();

   private:
    std::optional<OneThreadGuard::Scope> use_;
    std::unique_ptr<frugal::EmaScope> average_;
  };

  // Values of one parameter or buffer, in f64; materializes it.
  std::vector<double> Values(const std::string& path);
  // Gives it other values, in its order. Moving averages stay as they are.
  void SetValues(const std::string& path, std::span<const double> values);
  // Takes the weights and buffers that another model has under the same paths, as it would save
  // them, e.g. those of a trained body under a new head; moving averages begin anew with them.
  // Returns how many there were. Throws UsageError where there is none, or one has another shape.
  std::int64_t CopyWeights(Model& from);
  // The gradient that the last TrainStep left, before clipping; empty where none arrived, and with
  // optimizer_in_backward, which leaves none.
  std::vector<double> LastGradient(const std::string& path);

  // Throws DivergenceError where a weight or a buffer is not finite; with on_divergence = kWarn it
  // gives a warning.
  void RequireFiniteWeights();

  // Writes a snapshot to a new directory: all that the next step depends on, of own loops
  // (TrainStep) too. Within Train(), observers do not; [snapshots] does it there. Throws FileError.
  void SaveSnapshot(const std::string& path);
  // Takes the state of a snapshot, of whatever number of devices or processes; the next Train()
  // goes on where it was saved, bit for bit. The model must be made with the configuration of the
  // snapshot, but for what changes no number (DifferencesInNumbers). Throws SnapshotError for one
  // that is damaged, and ConfigError with every value that is another; the model stays as it was.
  void Resume(const std::string& path);
  // Throws what Train() would before its first step, where it cannot have snapshots.directory.
  void CheckSnapshots(const TrainOptions& options) const;
  // Returns where the training stands that the next Train() goes on with; null where it begins one.
  const TrainingProgress* resumed() const { return resumed_ ? &*resumed_ : nullptr; }
  // Steps of the training that the next Train() goes on with; 0 where it begins one.
  std::int64_t resumed_steps() const { return resumed_ ? resumed_->result.steps : 0; }
  // Makes a model of the configuration in the snapshot, with overrides "section.key=value" on top,
  // and resumes it. For trainings whose network and data the configuration describes.
  static Model FromSnapshot(const std::string& path,
                            const std::vector<std::string>& overrides = {});

  // Writes weights and buffers, as safetensors unless the name tells another form (.json, .bin; see
  // FormatToWrite); an interrupted write loses nothing. Throws FileError where it cannot. Weights
  // that are not finite are refused, as RequireFiniteWeights does.
  void SaveWeights(const std::string& path);
  // Reads them by name. See ModelOptions::allow_missing.
  void LoadWeights(const std::string& path, WeightsFormat format = WeightsFormat::kAuto);
  void LoadWeights(const std::string& path, WeightsFormat format, bool allow_missing);
  std::string WeightsHash();

  // Another model of the same configuration and plan with copies of the values that are
  // materialized; lazy ones stay lazy and will be equal. Throws UsageError where the network is not
  // the one that the configuration builds.
  Model Clone() const;

  std::int64_t live_bytes() const;
  MemoryMeasurement Measured() const;
  // Says who holds the memory: as planned, as measured in the last step that was recorded, and as
  // it is now. May be asked at any moment between steps, by observers too. Plans a step dry.
  frugal::MemoryReport MemoryReport();
  // The next TrainStep is recorded for that; in Train(), output.memory_report and
  // track_memory_statistics record one.
  void RecordNextStep() { records_next_ = true; }

 private:
  friend class Predictor;  // which shares the weights with other threads

  void CheckPredict(const std::string& where, std::size_t values, std::int64_t count,
                    bool tokens) const;
  void CheckPredictInputs(const std::string& where, std::span<const InputValues> given,
                          std::int64_t count) const;
  void RequireTraining(const char* where) const;
  SnapshotStart StartFor(const TrainOptions& options) const;
  void RequireOwnWeights(const char* where) const;
  // Saves what a training asks for before its end. A file that cannot be written is a warning.
  void SaveOnTheWay(const std::string& path);
  Model CopyForInference(const char* where, std::int64_t batch, std::int64_t threads) const;
  void CheckTokens(const std::string& where, std::span<const std::int64_t> tokens) const;
  StepResult RunTrainStep(const StepSamples& samples);
  PredictedValues PredictParts(std::span<const InputValues> inputs, std::int64_t count);
  const Parameter& Find(const std::string& path) const;

  ModelPart<OneThreadGuard> use_;
  ModelPart<PlannedTraining> planned_;
  ModelPart<Executor> executor_;
  std::int64_t epochs_run_ = 0;              // by Train()
  bool records_next_ = false;                // the next TrainStep
  std::string resumed_from_;                 // the last snapshot
  std::optional<TrainingProgress> resumed_;  // where the next Train() goes on
};

}  // namespace frugal
