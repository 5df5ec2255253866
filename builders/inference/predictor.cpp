#include "builders/inference/predictor.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "builders/execute/executor.h"
#include "builders/execute/step_layouts.h"
#include "builders/inference/predictor_slot.h"
#include "builders/plan/one_device_planner.h"
#include "builders/run/predict_chunks.h"
#include "sdk/core/error.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

constexpr std::int64_t kMostSlots = 4096;
constexpr std::int64_t kMostThreadsOfCall = 1024;

void Check(const PredictorOptions& options) {
  const bool slots = options.slots >= 0 && options.slots <= kMostSlots;
  const bool threads = options.threads >= 1 && options.threads <= kMostThreadsOfCall;
  if (slots && threads) return;
  throw UsageError({.where = "Predictor",
                    .required = "from 0 to 4,096 slots, and from 1 to 1,024 threads of a call",
                    .given = std::to_string(options.slots) + " slots of " +
                             std::to_string(options.threads) + " threads",
                    .advice = "leave slots at 0 for as many as there are processors"});
}

std::int64_t SlotsOf(const PredictorOptions& options) {
  if (options.slots > 0) return options.slots;
  return std::max<std::int64_t>(1, MostThreads() / options.threads);
}

PredictorPlan PlanOf(const Plan& plan, std::int64_t batch, std::int64_t slots) {
  const StepPlan& step = *plan.Find(StepKind::kPredict, batch);
  const MemoryTimeline& timeline = step.timeline;
  PredictorPlan all;
  all.weight_bytes = step.baseline.Total();
  all.slot_bytes = timeline.live.empty() ? 0 : timeline.live[timeline.peak_event].Total();
  all.slots = slots;
  all.peak_bytes = all.weight_bytes + slots * all.slot_bytes;
  return all;
}

// Zeros for one sample of everything that a network takes.
struct ZeroSample {
  explicit ZeroSample(const NetworkInputs& of) {
    for (const NetworkInput& input : of) {
      const auto size = static_cast<std::size_t>(BatchShape(input, 1).ElementCount());
      floats.emplace_back(size);
      integers.emplace_back(size);
      if (TypeOf(input, DType::kF32) == DType::kI64) {
        inputs.emplace_back(std::span<const std::int64_t>(integers.back()));
      } else {
        inputs.emplace_back(std::span<const float>(floats.back()));
      }
    }
  }

  std::vector<std::vector<float>> floats;
  std::vector<std::vector<std::int64_t>> integers;
  std::vector<InputValues> inputs;
};

}  // namespace

// Holds what all threads share. The model and the slots stay as they are; a mutex guards which
// slots are free, and another one the layouts of batch sizes that are not in the plan.
class Predictor::State {
 public:
  State(Model model, ParameterStore& weights, const PredictorOptions& options, std::int64_t slots)
      : model_(std::move(model)),
        threads_(static_cast<int>(options.threads)),
        plan_(PlanOf(model_.plan(), PredictBatchOf(model_.planned()), slots)) {
    for (std::int64_t i = 0; i < slots; ++i) {
      slots_.push_back(std::make_unique<PredictorSlot>(model_.planned(), weights));
      free_.push_back(slots_.back().get());
    }
    // Whatever is made of weights when they are first used is made here, on one thread.
    const ZeroSample zero(model_.inputs());
    for (const auto& slot : slots_) slot->Run(zero.inputs, 1, *LayoutFor(1));
    weight_bytes_ = model_.live_bytes();
  }

  const Model& model() const { return model_; }
  const PredictorPlan& plan() const { return plan_; }

  PredictedValues Run(std::span<const InputValues> inputs, std::int64_t count) {
    const SlotScope scope(*this);
    const MostThreadsScope threads(threads_);
    return PredictInChunks(model_.planned(), inputs, count,
                           [&](std::span<const InputValues> part, std::int64_t samples) {
                             return scope.slot().Run(part, samples, *LayoutFor(samples));
                           });
  }

  PredictorPlan Measured() const {
    PredictorPlan measured = plan_;
    measured.weight_bytes = measured.peak_bytes = weight_bytes_;
    measured.slot_bytes = 0;
    for (const auto& slot : slots_) {
      measured.peak_bytes += slot->peak_bytes();
      measured.slot_bytes = std::max(measured.slot_bytes, slot->peak_bytes());
    }
    return measured;
  }

 private:
  // A slot that is this thread's until the end of the scope; waits until one is free.
  class SlotScope {
   public:
    explicit SlotScope(State& state) : state_(state) {
      std::unique_lock lock(state.mutex_);
      state.freed_.wait(lock, [&] { return !state.free_.empty(); });
      slot_ = state.free_.back();
      state.free_.pop_back();
    }
    SlotScope(const SlotScope&) = delete;
    SlotScope& operator=(const SlotScope&) = delete;
    ~SlotScope() {
      {
        const std::scoped_lock lock(state_.mutex_);
        state_.free_.push_back(slot_);
      }
      state_.freed_.notify_one();
    }
    PredictorSlot& slot() const { return *slot_; }

   private:
    State& state_;
    PredictorSlot* slot_ = nullptr;
  };

  StepLayouts::Layout LayoutFor(std::int64_t count) {
    const PlannedTraining& planned = model_.planned();
    const StepPlan* step = planned.plan.Find(StepKind::kPredict, count);
    if (step != nullptr) return {StepLayouts::Layout(), &step->layout};  // lives as the model
    const std::scoped_lock lock(planning_);
    return layouts_.Of(StepKind::kPredict, count,
                       [&] { return PlanStep(planned, StepKind::kPredict, count).layout; });
  }

  const Model model_;
  const int threads_;
  const PredictorPlan plan_;
  std::vector<std::unique_ptr<PredictorSlot>> slots_;
  std::vector<PredictorSlot*> free_;
  std::mutex mutex_;
  std::condition_variable freed_;
  StepLayouts layouts_;
  std::mutex planning_;
  std::int64_t weight_bytes_ = 0;
};

Predictor::Predictor(std::unique_ptr<State> state) : state_(std::move(state)) {}

namespace {

// The store of a model that is on one device.
ParameterStore& StoreOf(Executor& executor) { return executor.StoreOf(Parameter()); }

}  // namespace

Predictor::Predictor(const Model& model, const PredictorOptions& options) {
  Check(options);
  const std::int64_t slots = SlotsOf(options);
  const MostThreadsScope threads(static_cast<int>(options.threads));
  Model copy = model.CopyForInference("Predictor", options.batch, options.threads);
  Executor& executor = *copy.executor_;
  ParameterStore& weights = StoreOf(executor);
  state_ = std::make_unique<State>(std::move(copy), weights, options, slots);
}

Predictor Predictor::FromFile(const std::string& path, const PredictorOptions& options) {
  Check(options);
  const std::int64_t slots = SlotsOf(options);
  const MostThreadsScope threads(static_cast<int>(options.threads));
  InferenceOptions inference = {.batch = options.batch, .overrides = options.overrides};
  inference.overrides.push_back("training.threads=" + std::to_string(options.threads));
  Model model = Model::FromFile(path, inference);
  Executor& executor = *model.executor_;
  ParameterStore& weights = StoreOf(executor);
  return Predictor(std::make_unique<State>(std::move(model), weights, options, slots));
}

Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

const DataLayout& Predictor::layout() const { return state_->model().layout(); }
const NetworkInputs& Predictor::inputs() const { return state_->model().inputs(); }
std::vector<std::string> Predictor::class_names() const { return state_->model().class_names(); }
const PredictorPlan& Predictor::plan() const { return state_->plan(); }
PredictorPlan Predictor::Measured() const { return state_->Measured(); }

std::vector<float> Predictor::Predict(std::span<const float> inputs, std::int64_t count) const {
  state_->model().CheckPredict("Predictor::Predict", inputs.size(), count, false);
  const std::array<InputValues, 1> all = {inputs};
  return std::move(state_->Run(all, count).front());
}

std::vector<float> Predictor::PredictTokens(std::span<const std::int64_t> tokens,
                                            std::int64_t count) const {
  state_->model().CheckPredict("Predictor::PredictTokens", tokens.size(), count, true);
  state_->model().CheckTokens("Predictor::PredictTokens", tokens);
  const std::array<InputValues, 1> all = {tokens};
  return std::move(state_->Run(all, count).front());
}

std::vector<float> Predictor::PredictInputs(std::span<const InputValues> inputs,
                                            std::int64_t count) const {
  state_->model().CheckPredictInputs("Predictor::PredictInputs", inputs, count);
  return std::move(state_->Run(inputs, count).front());
}

PredictedValues Predictor::PredictOutputs(std::span<const InputValues> inputs,
                                          std::int64_t count) const {
  state_->model().CheckPredictInputs("Predictor::PredictOutputs", inputs, count);
  return state_->Run(inputs, count);
}

}  // namespace frugal
