#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/frugal.h"
#include "builders/report/text/console_progress.h"

namespace frugal::transfer {

struct Point {
  std::int64_t step = 0;
  double accuracy = 0;  // on the test part
};

// Test accuracy in the course of a training, with progress on the console.
class AccuracyCurve final : public TrainingObserver {
 public:
  // Measures after every `every` steps, and at the end.
  AccuracyCurve(Model& model, std::int64_t every);

  void OnStep(const StepProgress& progress) override;
  void OnEpoch(const EpochResult& epoch) override { console_.OnEpoch(epoch); }

  const std::vector<Point>& points() const { return points_; }

 private:
  Model& model_;
  std::int64_t every_;
  ConsoleProgress console_;
  std::vector<Point> points_;
};

double BestOf(const std::vector<Point>& curve);
// The first step at which the accuracy was reached.
std::optional<std::int64_t> StepReaching(const std::vector<Point>& curve, double accuracy);

// Both curves side by side, and how many steps each took to the best accuracy that both reached,
// and to two points less.
std::string ComparisonText(const std::vector<Point>& tuned, const std::vector<Point>& scratch);

}  // namespace frugal::transfer
