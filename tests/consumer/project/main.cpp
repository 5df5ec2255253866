// A program outside of this repository: it builds a model with the builder, trains it on data of
// its own, saves it and reads it back. What it needs comes from the package alone.
#include <frugal/frugal.h>
#include <frugal/plan_text.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "builders/report/rows/plan_notes.h"  // the path in the repository does as well

#ifdef EXPECTED_VERSION  // what the package says that it is
static_assert(std::string_view(FRUGAL_VERSION) == EXPECTED_VERSION);
#endif

namespace {

// Points [2] in a square, and on which side of a circle each lies.
class Points : public frugal::DataSource {
 public:
  std::int64_t count() const override { return 256; }
  void Fill(std::span<const std::int64_t> samples, const frugal::Tensor& inputs,
            const frugal::Tensor& targets) const override {
    auto* point = inputs.data<float>();
    auto* label = targets.data<std::int64_t>();
    for (const std::int64_t sample : samples) {
      const float x = static_cast<float>(sample % 16) / 8 - 1;
      const float y = static_cast<float>(sample / 16) / 8 - 1;
      *point++ = x;
      *point++ = y;
      *label++ = x * x + y * y < 0.5f;
    }
  }
};

frugal::AiModelBuilder Builder() {
  frugal::AiModelBuilder builder;
  builder.Memory(frugal::TrainingMemoryConfig::MemoryEfficient())
      .Data({.sample_shape = {2}, .classes = 2, .target_shape = {}, .train_count = 256},
            {.train = std::make_shared<Points>(), .test = nullptr})
      .Layers([](frugal::LayerList& layers) {
        layers.Dense({.units = 32, .activation = frugal::Activation::kRelu}).Dense({.units = 2});
      })
      .Optimizer({.kind = frugal::OptimizerKind::kAdamW, .lr = 0.02})
      .Training({.epochs = 20, .batch_size = 32, .evaluate = false});
  return builder;
}

bool Check(bool condition, const char* what) {
  if (!condition) std::printf("failed: %s\n", what);
  return condition;
}

// Errors of the library are caught here by their types.
bool ThrowsUsageError(frugal::Model& model) {
  try {
    model.Evaluate();
  } catch (const frugal::UsageError& error) {
    const frugal::Error* base = &error;
    return dynamic_cast<const frugal::UsageError*>(base) != nullptr && error.what()[0] == '[';
  }
  return false;
}

}  // namespace

int main() {
  frugal::Model model = Builder().Build();
  std::string text = frugal::PlanText(model.planned());
  for (const std::string& note : frugal::NotesOn(model.planned())) text += note + "\n";
  bool fine = Check(text.find("dense") != std::string::npos, "the plan's text names the layers");
  const frugal::TrainingResult result = model.Train();
  fine &= Check(result.losses.front() > 0.5, "the first loss is that of guessing");
  fine &= Check(result.losses.back() < 0.3, "the last loss is small");
  fine &= Check(ThrowsUsageError(model), "Evaluate() without a test part throws UsageError");

  const std::string path = "consumer_weights.safetensors";
  model.SaveWeights(path);
  frugal::Model read = Builder().Build();
  read.LoadWeights(path);
  const std::vector<float> point = {0.9f, 0.9f};
  fine &= Check(read.Predict(point, 1) == model.Predict(point, 1), "saved weights are read back");
  std::printf("frugal %s: %zu steps, loss %.3f -> %.3f\n", FRUGAL_VERSION, result.losses.size(),
              result.losses.front(), result.losses.back());
  return fine ? 0 : 1;
}
