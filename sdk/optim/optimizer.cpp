#include "sdk/optim/optimizer.h"

#include <array>
#include <cmath>
#include <numeric>

#include "sdk/core/error.h"
#include "sdk/core/random.h"
#include "sdk/module/parameter_store.h"
#include "sdk/optim/optimizer_registry.h"

namespace frugal {

Optimizer::Optimizer(const OptimizerOptions& options, const ScheduleOptions& schedule,
                     double clip_norm, std::int64_t total_steps)
    : options_(options),
      schedule_(schedule),
      clip_norm_(clip_norm),
      total_steps_(total_steps),
      rule_(FindOptimizer(options.kind)),
      state_count_(StateCountOf(rule_, options)),
      undecayed_(options) {
  undecayed_.weight_decay = 0;
  if (rule_.update) return;
  throw UsageError({.where = "optimizer " + rule_.name,
                    .required = "a rule has a function `update`",
                    .given = "this one has none",
                    .advice = "give it one"});
}

std::vector<double> Optimizer::SquaresOf(Context& context,
                                         std::span<Parameter* const> parameters) const {
  if (!clips()) return {};
  const LabelScope label(context, "optimizer");
  std::vector<double> squares(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor gradient = context.parameters().Gradient(*parameters[i]);
    if (!gradient) continue;
    context.Launch({OperationKind::kOptimizer, BytesOf(gradient)}, [&](Backend& backend, void*) {
      squares[i] = backend.optimizer().SumOfSquares(gradient);
    });
  }
  return squares;
}

double Optimizer::NormOf(std::span<const double> squares) {
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

double Optimizer::GradientNorm(Context& context, std::span<Parameter* const> parameters) const {
  return NormOf(SquaresOf(context, parameters));
}

void Optimizer::Step(Context& context, std::span<Parameter* const> parameters, double norm) const {
  const LabelScope label(context, "optimizer");
  // As PyTorch's clip_grad_norm_: a small constant keeps the quotient finite.
  const double scale = clips() ? std::min(1.0, clip_norm_ / (norm + 1e-6)) : 1;
  for (const Parameter* parameter : parameters) Update(context, *parameter, scale);
}

double Optimizer::Step(Context& context, std::span<Parameter* const> parameters) const {
  const double norm = GradientNorm(context, parameters);
  Step(context, parameters, norm);
  return norm;
}

void Optimizer::UpdateEma(Context& context, const Parameter& parameter, const Tensor& value) const {
  if (options_.ema_decay <= 0) return;
  ParameterStore& store = context.parameters();
  const bool starts = !store.HasState(parameter, ParameterStore::kAverage);
  const Tensor average = store.State(parameter, ParameterStore::kAverage, context.backend());
  const auto t = static_cast<double>(context.step());
  // A parameter whose first gradient comes late starts from its own value too.
  const double share = starts ? 1 : 1 - std::min(options_.ema_decay, t / (t + 10));
  // average += share (value - average), as a step of SGD against the "gradient" value - average.
  context.Launch({OperationKind::kOptimizer, BytesOf(value, average, average)},
                 [&](Backend& backend, void*) {
                   backend.optimizer().Sgd({.learning_rate = -share, .weight_decay = -1}, value,
                                           Tensor(), average);
                 });
  store.KeepState(parameter, ParameterStore::kAverage, average);
}

void Optimizer::TakeState(Context& context, const Parameter& parameter) const {
  if (!parameter.trainable) return;
  ParameterStore& store = context.parameters();
  const StateForm form = FormOf(options_.state, parameter.shape, store.dtype());
  for (std::size_t i = 0; i < StateCount(); ++i) {
    store.State(parameter, i, form.dtype, form.shape, context.backend());
  }
  if (options_.ema_decay > 0) {
    store.State(parameter, ParameterStore::kAverage, context.backend());
  }
}

void Optimizer::Update(Context& context, const Parameter& parameter, double gradient_scale) const {
  ParameterStore& store = context.parameters();
  const Tensor gradient = store.Gradient(parameter);
  if (!gradient || !parameter.trainable) return;
  const Tensor value = store.Value(parameter);
  std::array<Tensor, ParameterStore::kStateCount> state;
  const bool first_step = StateCount() > 0 && !store.HasState(parameter, 0);
  const StateForm form = FormOf(options_.state, parameter.shape, value.dtype());
  for (std::size_t i = 0; i < StateCount(); ++i) {
    state[i] = store.State(parameter, i, form.dtype, form.shape, context.backend());
  }
  const bool rounds = form.dtype != value.dtype();  // by chance
  const bool decays = options_.decay_vectors || parameter.shape.rank() >= 2;
  const OptimizerOptions& options = decays ? options_ : undecayed_;
  UpdateCall call{.rate = LearningRate(context.step()) * parameter.rate_factor,
                  .epsilon = options_.eps.value_or(rule_.eps),
                  .step = context.step() + 1,
                  .scale = gradient_scale,
                  .first_step = first_step,
                  .noise_key = rounds ? StreamKey(context.seed(), parameter.path + "/state",
                                                  static_cast<std::uint64_t>(context.step()))
                                      : 0,
                  .gradient = gradient,
                  .state = state,
                  .value = value};
  store.BeforeUpdate(parameter);
  context.Launch({OperationKind::kOptimizer,
                  BytesOf(gradient, value, value) + 2 * BytesOf(state[0], state[1])},
                 [&](Backend& backend, void*) { rule_.update(backend, options, call); });
  store.KeepValue(parameter, value);
  for (std::size_t i = 0; i < StateCount(); ++i) store.KeepState(parameter, i, state[i]);
  state = call.state = {};  // what is paged is free again
  FollowUpdate(context, parameter, value);
}

void Optimizer::FollowUpdate(Context& context, const Parameter& parameter,
                             const Tensor& value) const {
  UpdateEma(context, parameter, value);
  ParameterStore& store = context.parameters();
  if (!store.HasPacked(parameter)) return;
  context.Launch(
      {OperationKind::kOptimizer, value.size() * (SizeOf(value.dtype()) + SizeOf(DType::kBF16))},
      [&](Backend& backend, void*) { store.Repack(parameter, backend); });
}

}  // namespace frugal
