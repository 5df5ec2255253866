#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "builders/run/model.h"

namespace frugal {

struct PredictorOptions {
  // Calls that compute at the same time; more wait for their turn. 0: as many as kernels have
  // threads, divided by `threads`.
  std::int64_t slots = 0;
  std::int64_t threads = 1;              // of kernels, within one call
  std::int64_t batch = 0;                // as InferenceOptions::batch
  std::vector<std::string> overrides{};  // of FromFile, as in InferenceOptions
};

// Says what a predictor takes, in bytes. Each slot has memory of its own for what it computes.
struct PredictorPlan {
  std::int64_t weight_bytes = 0;
  std::int64_t slot_bytes = 0;  // the most that is live in one slot
  std::int64_t slots = 0;
  std::int64_t peak_bytes = 0;  // of weights and all slots
};

// A trained network that any number of threads share: the weights are there once. Threads: every
// call may come from any of them at any time, but for moving and destroying the predictor. A call
// computes with `threads` threads in one of the slots, which is the memory that was planned for it,
// and comes to the bits of Model::Predict of a model with as many threads and the same batch.
class Predictor {
 public:
  // Copies the weights, or their averages where an optimizer keeps them: the model may train on,
  // and the predictor stays as it is.
  explicit Predictor(const Model& model, const PredictorOptions& options = {});
  // Reads a weight file that describes its network, as Model::FromFile does.
  static Predictor FromFile(const std::string& path, const PredictorOptions& options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  const DataLayout& layout() const;
  const NetworkInputs& inputs() const;
  // One name for each class, or none where nothing names them.
  std::vector<std::string> class_names() const;

  // Each is as Model's of the same name, and throws what that throws.
  std::vector<float> Predict(std::span<const float> inputs, std::int64_t count) const;
  std::vector<float> PredictTokens(std::span<const std::int64_t> tokens, std::int64_t count) const;
  std::vector<float> PredictInputs(std::span<const InputValues> inputs, std::int64_t count) const;
  PredictedValues PredictOutputs(std::span<const InputValues> inputs, std::int64_t count) const;

  const PredictorPlan& plan() const;
  // Returns it as measured: the most that each slot took so far.
  PredictorPlan Measured() const;

 private:
  class State;
  explicit Predictor(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace frugal
