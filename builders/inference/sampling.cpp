#include "builders/inference/sampling.h"

#include <algorithm>

#include "sdk/core/error.h"

namespace frugal {
namespace {

const NetworkInput* Find(const NetworkInputs& inputs, InputRole role) {
  const auto found = std::ranges::find(inputs, role, &NetworkInput::role);
  return found == inputs.end() ? nullptr : &*found;
}

[[noreturn]] void RefuseDrawing(std::string required, std::string given, std::string advice) {
  throw UsageError({.where = "DrawSamples",
                    .required = std::move(required),
                    .given = std::move(given),
                    .advice = std::move(advice)});
}

void CheckModel(const Model& model) {
  if (model.diffusion() == nullptr) {
    RefuseDrawing("a model that was trained by diffusion", "its configuration has none",
                  "write [diffusion] with a kind");
  }
  for (const NetworkInput& input : model.inputs()) {
    if (input.role != InputRole::kValues && input.role != InputRole::kNumbers) continue;
    RefuseDrawing("nothing conditions the network but labels", "it takes '" + input.name + "'",
                  "call Model::PredictInputs with a sampler of sdk/diffusion");
  }
}

void CheckLabels(const NetworkInput* input, const SampleOptions& options) {
  if (input == nullptr && !options.labels.empty()) {
    RefuseDrawing("the network takes labels", "it takes none", "give a count instead");
  }
  if (input != nullptr && options.labels.empty()) {
    RefuseDrawing("a label for each sample", "none was given", "give labels");
  }
  for (const std::int64_t label : options.labels) {
    if (label >= 0 && label < input->classes) continue;
    RefuseDrawing("labels lie in [0, " + std::to_string(input->classes) + ")",
                  std::to_string(label), "give labels of the model");
  }
  if (input == nullptr && options.count < 1) {
    RefuseDrawing("at least one sample", "count = " + std::to_string(options.count),
                  "give a count");
  }
}

// A flow's network says velocities, the other kind's something else.
void CheckSampler(const DiffusionProcess& diffusion, const SampleOptions& options) {
  const bool flow = diffusion.options().kind == DiffusionKind::kFlow;
  if (!options.sampler || (*options.sampler == SamplerKind::kEulerFlow) == flow) return;
  RefuseDrawing(std::string("a sampler of kind = \"") + (flow ? "flow" : "noise") + "\"",
                "sampler \"" + std::string(NameOf(*options.sampler)) + "\"",
                flow ? "use euler_flow" : "use ddpm, ddim or dpm_solver");
}

// Guidance compares with the last label, which must not be one of the data's.
void CheckGuidance(const Model& model, const NetworkInput* label, double guidance) {
  if (guidance == 1) return;
  if (label == nullptr) {
    RefuseDrawing("guidance goes by labels", "the network takes none", "use guidance = 1");
  }
  if (label->classes > model.layout().classes) return;
  RefuseDrawing("guidance goes by a label that stands for none",
                "each of the network's " + std::to_string(label->classes) + " labels is a class",
                "use guidance = 1, or train with diffusion.label_dropout and a label more");
}

// Asks the network for a number of samples at one time, in batches of a planned size.
class Asking {
 public:
  Asking(Model& model, std::int64_t count) : model_(model), count_(count) {
    size_ = model.layout().sample_shape.ElementCount();
  }

  // labels: one for each sample, or none.
  std::vector<float> Ask(std::span<const float> x, double t, std::span<const std::int64_t> labels) {
    const std::int64_t most = std::min(count_, model_.schedule().evaluation_batch);
    std::vector<float> outputs;
    for (std::int64_t at = 0; at < count_; at += most) {
      const std::int64_t batch = std::min(most, count_ - at);
      const std::vector<float> times(static_cast<std::size_t>(batch), static_cast<float>(t));
      std::vector<InputValues> inputs;
      for (const NetworkInput& input : model_.inputs()) {
        if (input.role == InputRole::kTime) {
          inputs.emplace_back(std::span<const float>(times));
        } else if (input.role == InputRole::kLabel) {
          inputs.emplace_back(
              labels.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(batch)));
        } else {
          inputs.emplace_back(x.subspan(static_cast<std::size_t>(at * size_),
                                        static_cast<std::size_t>(batch * size_)));
        }
      }
      const std::vector<float> part = model_.PredictInputs(inputs, batch);
      outputs.insert(outputs.end(), part.begin(), part.end());
    }
    return outputs;
  }

 private:
  Model& model_;
  std::int64_t count_;
  std::int64_t size_ = 0;
};

}  // namespace

std::vector<float> DrawSamples(Model& model, const SampleOptions& options) {
  CheckModel(model);
  const NetworkInput* label = Find(model.inputs(), InputRole::kLabel);
  CheckLabels(label, options);
  const DiffusionProcess& diffusion = *model.diffusion();
  const NetworkInput& time = *Find(model.inputs(), InputRole::kTime);
  const double guidance = options.guidance.value_or(diffusion.options().guidance);
  CheckSampler(diffusion, options);
  CheckGuidance(model, label, guidance);
  const std::int64_t count =
      label != nullptr ? static_cast<std::int64_t>(options.labels.size()) : options.count;
  const std::vector<std::int64_t> none(options.labels.size(), label ? NoLabel(*label) : 0);
  const auto sampler = MakeSampler(diffusion.SamplerOf(
      options.steps.value_or(diffusion.options().sampler_steps), options.sampler, options.seed));
  const Model::EmaScope average(model);
  Asking network(model, count);
  std::vector<float> x(
      static_cast<std::size_t>(count * model.layout().sample_shape.ElementCount()));
  FillNoise(options.seed, x);
  for (std::int64_t step = 0; step < sampler->steps(); ++step) {
    const double t = diffusion.NetworkTime(sampler->TimeOf(step), time);
    std::vector<float> output = network.Ask(x, t, options.labels);
    if (guidance != 1 && label != nullptr) {
      Guided(output, network.Ask(x, t, none), guidance, output);
    }
    sampler->Step(step, output, x);
    if (options.progress) options.progress(step + 1, sampler->steps());
  }
  return x;
}

}  // namespace frugal
