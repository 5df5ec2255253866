// A layer, a loss, a metric, an optimizer (lion.cpp) and data (bars.cpp) of a program's own,
// planned and trained like ours. With arguments it is the frugal command, which knows them: train
// samples/070_own_parts/own_parts.toml
#include <frugal/cli.h>
#include <frugal/frugal.h>
#include <frugal/metrics.h>
#include <frugal/ops.h>

#include <cmath>

#include "samples/070_own_parts/bars.h"
#include "samples/070_own_parts/lion.h"

using namespace frugal;

// Scales each channel of images by what two products make of its mean (arXiv 1709.01507).
class SqueezeExcitation final : public Layer {
 public:
  struct Options {
    std::int64_t reduction = 4;
  };
  SqueezeExcitation(const Shape& input, const Options& options)
      : squeeze_(input.back(),
                 {.units = input.back() / options.reduction, .activation = Activation::kRelu}),
        excite_(input.back() / options.reduction,
                {.units = input.back(), .activation = Activation::kSigmoid}) {
    AddChild("squeeze", squeeze_);
    AddChild("excite", excite_);
  }
  std::string Describe() const override { return "squeeze and excitation"; }

 private:
  Var Forward(Context& context, const Var& x) override {
    const Var scale = excite_(context, squeeze_(context, Mean(context, x, {1, 2}, true)));
    return Arithmetic(context, BinaryKind::kMultiply, x, scale);
  }
  Dense squeeze_, excite_;
};

// Cross entropy that also asks for some doubt (arXiv 1701.06548).
Var ConfidencePenalty(Context& context, const Var& logits, const Tensor& labels) {
  const Var weighted = Arithmetic(context, BinaryKind::kMultiply, Softmax(context, logits),
                                  LogSoftmax(context, logits));
  const Var entropy = Reshape(context, Mean(context, weighted, {0, 1}), {1});
  return Add(context, CrossEntropy(context, logits, labels), Scale(context, entropy, 0.1));
}

// Mean square distance of the probabilities from the truth.
struct Brier final : Metric {
  void Add(const MetricBatch& batch) override {
    for (std::size_t row = 0; row < batch.labels.size(); ++row) {
      const auto columns = static_cast<std::size_t>(batch.columns);
      double all = 0;
      for (const float x : batch.outputs.subspan(row * columns, columns)) all += std::exp(x);
      for (std::size_t i = 0; i < columns; ++i) {
        const double truth = std::cmp_equal(batch.labels[row], i) ? 1 : 0;
        sum += std::pow(std::exp(batch.outputs[row * columns + i]) / all - truth, 2);
      }
      ++rows;
    }
  }
  double Value() const override { return sum / static_cast<double>(rows); }
  void Reset() override { sum = 0, rows = 0; }
  double sum = 0;
  std::int64_t rows = 0;
};

void RegisterParts() {
  RegisterBars();
  RegisterLion();
  Register<SqueezeExcitation>("squeeze_excitation",
                              {MakeField("reduction", &SqueezeExcitation::Options::reduction,
                                         "Features inside, one in so many.", {.min = 1})});
  Metrics().Add({.name = "brier",
                 .doc = "Mean square error of probabilities.",
                 .larger_is_better = false,
                 .make = [](const MetricSetup&) { return std::make_unique<Brier>(); }});
}

int main(int count, char** arguments) {
  const int registered = RunProgram(RegisterParts);
  if (registered != 0 || count > 1) return registered != 0 ? registered : Cli(count, arguments);
  return RunProgram([] {
    AiModelBuilder builder;
    builder.Memory(TrainingMemoryConfig::ForConvNets()).Training({.epochs = 4});
    builder.Optimizer({.kind = "lion", .lr = 0.001, .options = LionOptions{.beta1 = 0.8}});
    builder.Loss(ConfidencePenalty).Metrics({"brier", "f1"});
    builder.Data({.dataset = "bars", .options = BarsOptions{.count = 2048}})
        .Layers([](LayerList& l) {
          l.Conv2d({.filters = 16, .kernel = 3, .padding = 1}).BatchNorm({.relu = true});
          l.Add<SqueezeExcitation>({.reduction = 4}).MaxPool2d({.kernel = 2});
          l.Flatten().Dense({.units = 3});
        });
    RunTraining(builder.Plan());
  });
}
