// Trains on eight classes of Fashion-MNIST, fine-tunes the result to all ten, and trains the same
// network on all ten from scratch: how many steps does each take to the same accuracy? The eight
// classes' own steps are not counted: they are what one has when a trained network is at hand.
#include <iostream>

#include "samples/040_transfer/accuracy_curve.h"
#include "samples/arguments.h"
#include "sdk/core/number_text.h"

using namespace frugal;

namespace {

constexpr std::int64_t kEvery = 25;  // steps between two measurements

AiModelBuilder Read(const std::string& name, const std::vector<std::string>& overrides) {
  return AiModelBuilder::FromToml(std::string(FRUGAL_SAMPLE_DIR) + "/" + name, overrides);
}

std::vector<transfer::Point> Train(const std::string& title, const AiModelBuilder& builder) {
  Model model = builder.Build();
  const Plan& plan = model.plan();
  std::cout << title << ": " << FormatCount(plan.total_steps) << " steps, trains "
            << FormatCount(plan.trainable_count) << " of " << FormatCount(plan.parameter_count)
            << " parameters, "
            << FormatCount(static_cast<std::int64_t>(plan.steps.front().flops / 1e6))
            << " MFLOP a step" << std::endl;
  transfer::AccuracyCurve curve(model, kEvery);
  const TrainingResult result = model.Train(&curve);
  std::cout << "peak " << FormatCount(plan.peak_bytes) << " bytes planned, "
            << FormatCount(result.memory.peak_bytes) << " measured; "
            << DurationText(result.seconds) << " with measuring\n"
            << std::endl;
  return curve.points();
}

}  // namespace

int main(int count, char** arguments) {
  return RunProgram([&] {
    const auto overrides = ReadArguments(count, arguments, "").overrides;
    RunTraining(Read("eight_classes.toml", overrides).Plan());
    const auto tuned = Train("Fine-tuning to ten", Read("fine_tune.toml", overrides));
    const auto scratch = Train("Ten from scratch", Read("ten_classes.toml", overrides));
    std::cout << transfer::ComparisonText(tuned, scratch);
  });
}
