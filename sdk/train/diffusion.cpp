#include "sdk/train/diffusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sdk/core/random.h"
#include "sdk/core/threads.h"

namespace frugal {
namespace {

// Numbers of a sample in the stream of its own: its time, and whether it keeps its label.
constexpr std::uint64_t kOwnNumbers = 8, kLabelNumber = 4;

const Tensor* LabelsIn(std::span<const NetworkInput> inputs, const VarTuple& vars) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].role == InputRole::kLabel) return &vars[i].value;
  }
  return nullptr;
}

// The network's inputs in their order, from the data and from memory for the times.
VarTuple Arrange(Context& context, std::span<const NetworkInput> inputs, Batch& batch) {
  VarTuple arranged;
  std::size_t condition = 1;
  const std::int64_t count = batch.inputs[0].shape()[0];
  for (const NetworkInput& input : inputs) {
    if (input.role == InputRole::kSample) {
      arranged.push_back(std::exchange(batch.inputs[0], Var()));
    } else if (input.role == InputRole::kTime) {
      arranged.push_back({context.Allocate({count}, context.master_dtype(), MemoryTag::kData)});
    } else if (input.role == InputRole::kLabel) {
      arranged.push_back({std::exchange(batch.targets, Tensor())});
    } else {
      arranged.push_back(std::exchange(batch.inputs[condition++], Var()));
    }
  }
  return arranged;
}

}  // namespace

std::string_view NameOf(DiffusionKind kind) {
  return kind == DiffusionKind::kNone ? "none" : kind == DiffusionKind::kNoise ? "noise" : "flow";
}

std::string_view NameOf(FlowTimes times) {
  return times == FlowTimes::kUniform ? "uniform" : "logit_normal";
}

std::int64_t NoLabel(const NetworkInput& input) { return input.classes - 1; }

DiffusionProcess::DiffusionProcess(const DiffusionOptions& options) : options_(options) {
  if (options.kind != DiffusionKind::kNoise) return;
  schedule_.emplace(NoiseScheduleOptions{.betas = options.betas,
                                         .steps = options.steps,
                                         .first_beta = options.first_beta,
                                         .last_beta = options.last_beta});
}

DiffusionProcess::Drawn DiffusionProcess::Draw(std::uint64_t key, std::uint64_t index) const {
  if (schedule_) {
    const auto steps = static_cast<double>(schedule_->steps());
    const auto t = static_cast<std::int64_t>(UniformAt(key, index) * steps);
    return {schedule_->Level(t), static_cast<double>(t) / steps};
  }
  const double t = options_.times == FlowTimes::kUniform
                       ? UniformAt(key, index)
                       : 1 / (1 + std::exp(-NormalAt(key, index)));
  return {FlowLevel(options_.direction, t), t};
}

double DiffusionProcess::TargetAt(const NoiseLevel& level, double x0, double noise) const {
  if (schedule_) return TargetOf(options_.prediction, level, x0, noise);
  return options_.direction == FlowDirection::kDataAtZero ? noise - x0 : x0 - noise;
}

template <class T>
void DiffusionProcess::AddNoise(const NoiseLevel& level, const NoisePlace& place, std::span<T> x,
                                T* target) const {
  std::array<double, 256> room;
  for (std::size_t at = 0; at < x.size(); at += room.size()) {
    const auto noise = std::span(room).first(std::min(room.size(), x.size() - at));
    FillNormals(place.key, place.first + at, noise);
    for (std::size_t i = 0; i < noise.size(); ++i) {
      const auto x0 = static_cast<double>(x[at + i]);
      target[at + i] = static_cast<T>(TargetAt(level, x0, noise[i]));
      x[at + i] = static_cast<T>(level.signal * x0 + level.noise * noise[i]);
    }
  }
}

template <class T>
void DiffusionProcess::Fill(const Streams& streams, std::span<const NetworkInput> inputs,
                            std::span<const std::int64_t> samples, const Batch& batch,
                            const Tensor& target) const {
  const auto count = static_cast<std::int64_t>(samples.size());
  const std::int64_t size = target.size() / count;
  T* times = nullptr;
  const NetworkInput* time = nullptr;
  T* x = nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].role == InputRole::kSample) x = batch.inputs[i].value.data<T>();
    if (inputs[i].role != InputRole::kTime) continue;
    times = batch.inputs[i].value.data<T>();
    time = &inputs[i];
  }
  T* const y = target.data<T>();
  ParallelFor(count, 1, [&](std::int64_t n, std::int64_t) {
    const auto number = static_cast<std::uint64_t>(samples[static_cast<std::size_t>(n)]);
    const std::uint64_t first = number * static_cast<std::uint64_t>(size);
    const Drawn drawn = Draw(streams.own, number * kOwnNumbers);
    times[n] = static_cast<T>(drawn.fraction * time->time_range);
    const auto at = static_cast<std::size_t>(n * size), length = static_cast<std::size_t>(size);
    AddNoise(drawn.level, {streams.noise, first}, std::span(x + at, length), y + at);
  });
}

DiffusionProcess::Streams DiffusionProcess::StreamsOf(const Context& context) {
  const std::uint64_t seed = context.seed();
  if (!context.training()) {
    return {StreamKey(seed, "diffusion evaluation"), StreamKey(seed, "diffusion evaluation/own")};
  }
  const auto step = static_cast<std::uint64_t>(context.step());
  return {StreamKey(seed, "diffusion", step), StreamKey(seed, "diffusion/own", step)};
}

void DiffusionProcess::Noise(Context& context, std::span<const NetworkInput> inputs,
                             std::span<const std::int64_t> samples, Batch& batch) const {
  const LabelScope label(context, "batch");
  batch.inputs = Arrange(context, inputs, batch);
  const Tensor sample = batch.inputs[0].value;
  batch.targets = context.Allocate(sample.shape(), sample.dtype(), MemoryTag::kData);
  const Streams streams = StreamsOf(context);
  context.Launch({OperationKind::kData, 3 * sample.bytes()}, [&](Backend&, void*) {
    if (sample.dtype() == DType::kF64) {
      Fill<double>(streams, inputs, samples, batch, batch.targets);
    } else {
      Fill<float>(streams, inputs, samples, batch, batch.targets);
    }
  });
  const Tensor* labels = LabelsIn(inputs, batch.inputs);
  if (labels == nullptr || !context.training() || options_.label_dropout <= 0) return;
  context.Launch({OperationKind::kData, labels->bytes()}, [&](Backend&, void*) {
    const auto input = std::ranges::find(inputs, InputRole::kLabel, &NetworkInput::role);
    for (std::int64_t n = 0; n < labels->size(); ++n) {
      const auto number = static_cast<std::uint64_t>(samples[static_cast<std::size_t>(n)]);
      if (UniformAt(streams.own, number * kOwnNumbers + kLabelNumber) < options_.label_dropout) {
        labels->data<std::int64_t>()[n] = NoLabel(*input);
      }
    }
  });
}

SamplerOptions DiffusionProcess::SamplerOf(std::int64_t steps, std::optional<SamplerKind> kind,
                                           std::uint64_t seed) const {
  const SamplerKind usual = schedule_ ? SamplerKind::kDdim : SamplerKind::kEulerFlow;
  return {.kind = kind.value_or(options_.sampler.value_or(usual)),
          .steps = steps,
          .seed = seed,
          .schedule = {.betas = options_.betas,
                       .steps = options_.steps,
                       .first_beta = options_.first_beta,
                       .last_beta = options_.last_beta},
          .prediction = options_.prediction,
          .direction = options_.direction};
}

double DiffusionProcess::NetworkTime(double sampler_time, const NetworkInput& input) const {
  const double fraction =
      schedule_ ? sampler_time / static_cast<double>(schedule_->steps()) : sampler_time;
  return fraction * input.time_range;
}

}  // namespace frugal
