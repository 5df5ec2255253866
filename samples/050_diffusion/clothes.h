#pragma once

#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "builders/report/image_grid.h"
#include "builders/report/text/console_progress.h"

namespace frugal::clothes {

inline constexpr std::int64_t kClasses = 10;

// Class 0, 1, ... `rows` times over: a column for each class.
inline std::vector<std::int64_t> Labels(std::int64_t rows) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < rows * kClasses; ++i) labels.push_back(i % kClasses);
  return labels;
}

// Prints progress, and from time to time draws one sample of each class from the same noise: a row
// of the picture of how they sharpen.
class Sharpening final : public TrainingObserver {
 public:
  Sharpening(Model& model, std::string path)
      : model_(model),
        path_(std::move(path)),
        console_(UnitsOf(model.layout(), model.config().loss)) {}

  void OnStep(const StepProgress& progress) override {
    console_.OnStep(progress);
    // Steps 1, 1/64, 1/32, ... 1/2 of all, then all of them.
    const double share =
        static_cast<double>(progress.step) / static_cast<double>(progress.total_steps);
    if (progress.step > 1 && share < next_share_) return;
    if (progress.step > 1) next_share_ *= 2;
    const std::vector<float> row = DrawSamples(model_, {.labels = Labels(1), .seed = 7});
    rows_.insert(rows_.end(), row.begin(), row.end());
    WriteImageGrid(path_, model_, rows_);
  }
  void OnEpoch(const EpochResult& epoch) override { console_.OnEpoch(epoch); }

 private:
  Model& model_;
  std::string path_;
  ConsoleProgress console_;
  double next_share_ = 1.0 / 64;
  std::vector<float> rows_;
};

// Eight garments of each class, in the order of the data set: T-shirt, trouser, pullover, dress,
// coat, sandal, shirt, sneaker, bag, ankle boot.
inline void WriteSamples(Model& model, const std::string& path, std::uint64_t seed) {
  std::cout << "\ndrawing 8 samples of each class" << std::flush;
  const auto dot = [](std::int64_t step, std::int64_t) {
    if (step % 5 == 0) std::cout << "." << std::flush;
  };
  const std::vector<float> images =
      DrawSamples(model, {.labels = Labels(8), .seed = seed, .progress = dot});
  WriteImageGrid(path, model, images);
  std::cout << "\nwrote " << path << std::endl;
}

inline void TrainAndDraw(PlannedTraining planned, const std::string& directory,
                         std::vector<std::string> keep = {}, std::string resume = {}) {
  std::filesystem::create_directories(directory);
  const std::string sharpening = directory + "/sharpening.png";
  TrainedRun run = RunTraining(
      std::move(planned),
      {.resume = std::move(resume), .keep = std::move(keep), .watch = [&](Model& model) {
         return std::make_unique<Sharpening>(model, sharpening);
       }});
  std::cout << "wrote " << sharpening << ": each row is later in training\n";
  WriteSamples(run.model, directory + "/samples.png", 0);
}

}  // namespace frugal::clothes
