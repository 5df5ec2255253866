#include "sdk/module/gradient_check.h"

#include <cmath>
#include <utility>

#include "sdk/core/number_text.h"
#include "sdk/core/random.h"
#include "sdk/module/memory_comparison.h"
#include "sdk/module/reference_context.h"

namespace frugal {
namespace {

// One check, of a function and the parameters that it uses.
struct Subject {
  const CheckedFunction& function;
  const std::vector<Shape>& inputs;
  std::vector<Parameter*> parameters;
  const GradientCheckOptions& options;
};

std::vector<Tensor> InputsIn(ReferenceContext& place, const Subject& subject) {
  const GradientCheckOptions& options = subject.options;
  std::vector<Tensor> inputs;
  inputs.reserve(subject.inputs.size());
  for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
    inputs.push_back(place.context().Allocate(subject.inputs[i], DType::kF64, MemoryTag::kData));
    if (place.dry()) continue;
    const std::uint64_t key = StreamKey(options.seed, "input " + std::to_string(i));
    std::uint64_t element = 0;
    for (double& value : inputs.back().values<double>()) {
      value = options.low + (options.high - options.low) * UniformAt(key, element++);
    }
  }
  return inputs;
}

// Returns what a pass forward and back takes, in order.
MemoryTrace TraceOf(ReferenceContext& place, const Subject& subject) {
  Context& context = place.context();
  const std::vector<Tensor> inputs = InputsIn(place, subject);
  for (const Parameter* parameter : subject.parameters) place.store().Value(*parameter);
  MemoryTrace trace;
  place.ledger().RecordInto(&trace);
  {
    Tape tape;
    const TapeScope scope(context, &tape);
    std::vector<Var> leaves;
    leaves.reserve(inputs.size());
    for (const Tensor& input : inputs) leaves.push_back({input, tape.NewSlot()});
    Var output = subject.function(context, leaves);
    leaves.clear();
    const Tensor seed = context.Allocate(output.shape(), output.dtype());
    context.Launch({OperationKind::kElementwise},
                   [&](Backend& backend, void*) { backend.elementwise().Fill(seed, 1); });
    const int slot = std::exchange(output, Var()).slot;
    if (slot != Var::kNoGradient) tape.Backward(context, slot, seed);
  }
  place.ledger().RecordInto(nullptr);
  place.store().ClearGradients();
  return trace;
}

// Every output, as often as it is asked for, from the same inputs.
std::vector<double> OutputOf(Context& context, const Subject& subject,
                             const std::vector<Tensor>& inputs) {
  const TapeScope no_tape(context, nullptr);
  std::vector<Var> leaves;
  for (const Tensor& input : inputs) leaves.push_back({input});
  const Tensor y = subject.function(context, leaves).value;
  return {y.values<double>().begin(), y.values<double>().end()};
}

bool SameNumbers(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

std::optional<Diagnostic> Unsteady(Context& context, const Subject& subject,
                                   const std::vector<Tensor>& inputs) {
  if (SameNumbers(OutputOf(context, subject, inputs), OutputOf(context, subject, inputs))) {
    return std::nullopt;
  }
  return Diagnostic{.where = "gradients",
                    .required = "the same inputs give the same result",
                    .given = "two runs differ",
                    .advice =
                        "draw random numbers by the context's seed and step (UniformAt), and "
                        "keep nothing from one run to the next"};
}

// Moves values off zeros and ones, which gradients may hide behind.
void MoveParameters(ReferenceContext& place, const Subject& subject) {
  for (const Parameter* parameter : subject.parameters) {
    if (!parameter->trainable) continue;
    const std::uint64_t key = StreamKey(subject.options.seed, parameter->path);
    std::uint64_t element = 0;
    const Tensor moved = place.store().Value(*parameter);
    for (double& value : moved.values<double>()) {
      value += 0.2 * UniformAt(key, element++) - 0.1;
    }
  }
}

std::optional<Diagnostic> ProblemOf(const GradientReport::Leaf& leaf, double tolerance) {
  const LeafError& found = leaf.found;
  if (found.error <= tolerance) return std::nullopt;
  Diagnostic diagnostic = {
      .where = "gradients",
      .required = "the gradient of " + leaf.name + " is that of finite differences",
      .given = "element " + std::to_string(found.element) + " gets " +
               CompactText(found.computed, 8) + " and differences say " +
               CompactText(found.numeric, 8),
      .advice = "correct the backward function that makes it"};
  if (!found.arrives) {
    diagnostic.given = "none arrives, and differences say " + CompactText(found.numeric, 8) +
                       " of element " + std::to_string(found.element);
    diagnostic.advice =
        "let Record know that something is differentiable, and Accumulate the "
        "gradient of each input that needs one";
  }
  return diagnostic;
}

GradientReport Check(const Subject& subject) {
  GradientReport report;
  ReferenceContext dry(subject.options.seed, subject.options.training, true);
  const MemoryTrace planned = TraceOf(dry, subject);
  ReferenceContext real(subject.options.seed, subject.options.training, false);
  const MemoryTrace taken = TraceOf(real, subject);
  report.problem =
      FirstDifference({planned, dry.ledger().labels()}, {taken, real.ledger().labels()});
  if (report.problem) return report;
  const std::vector<Tensor> inputs = InputsIn(real, subject);
  MoveParameters(real, subject);
  report.problem = Unsteady(real.context(), subject, inputs);
  if (report.problem) return report;
  std::vector<OutsideLeaf> outside;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) names.push_back("input " + std::to_string(i));
  for (const Parameter* parameter : subject.parameters) {
    if (!parameter->trainable) continue;
    names.push_back(parameter->path);
    outside.push_back({real.store().Value(*parameter),
                       [&real, parameter] { return real.store().Gradient(*parameter); }});
  }
  const std::vector<LeafError> errors = CompareWithDifferences(
      real.context(), subject.function, inputs, outside, subject.options.step);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    report.leaves.push_back({names[i], errors[i]});
    if (!report.problem) {
      report.problem = ProblemOf(report.leaves.back(), subject.options.tolerance);
    }
  }
  return report;
}

}  // namespace

std::string GradientReport::ToString() const {
  if (problem) return UsageError(*problem).what();
  std::string text = "all gradients are right";
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    text +=
        (i == 0 ? ": " : ", ") + leaves[i].name + " to " + CompactText(leaves[i].found.error, 2);
  }
  return text;
}

void GradientReport::Require() const {
  if (problem) throw UsageError(*problem);
}

GradientReport CheckGradients(const CheckedFunction& function, const std::vector<Shape>& inputs,
                              const GradientCheckOptions& options) {
  const CheckedFunction labelled = [&function](Context& context, const std::vector<Var>& x) {
    const LabelScope label(context, "the function");
    return function(context, x);
  };
  return Check({.function = labelled, .inputs = inputs, .parameters = {}, .options = options});
}

GradientReport CheckGradients(Layer& layer, const std::vector<Shape>& inputs,
                              const GradientCheckOptions& options) {
  if (layer.path().empty()) layer.AssignPaths("layer");
  const std::vector<Parameter*> parameters = NumberParameters(layer);
  const CheckedFunction run = [&layer](Context& context, const std::vector<Var>& x) {
    VarTuple vars = x;
    layer(context, vars);
    return vars[0];
  };
  return Check({.function = run, .inputs = inputs, .parameters = parameters, .options = options});
}

}  // namespace frugal
