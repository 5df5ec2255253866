#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builders/plan/planned_training.h"

namespace frugal {

// Says what a network's outputs are, by its loss and its data.
enum class OutputKind : std::uint8_t {
  kClasses,  // a logit for each class
  kYesOrNo,  // logits of answers that are independent of each other
  kTokens,   // a logit for each token of the vocabulary, at each position
  kValues,
};

// Holds what a network made of samples.
struct Predictions {
  OutputKind kind = OutputKind::kValues;
  Shape shape;                 // [N, ...], of outputs
  std::vector<float> outputs;  // as the network has them
  // [N, M]: of each class, of each answer, or of each token behind the last position; else empty.
  std::vector<float> probabilities;
  std::vector<std::string> samples;      // their names
  std::vector<std::string> class_names;  // one for each class, or none

  std::int64_t count() const { return std::ssize(samples); }
  std::span<const float> OutputsOf(std::int64_t sample) const;
  std::span<const float> ProbabilitiesOf(std::int64_t sample) const;
  // "Sneaker", or "7" of a class without a name; a byte of a text as a letter, or as 0x0A.
  std::string NameOf(std::int64_t index) const;
};

// Interprets the outputs of `planned`'s network for as many samples as there are names.
Predictions MakePredictions(const PlannedTraining& planned, std::vector<float> outputs,
                            std::vector<std::string> samples);

// The indices of the largest probabilities, the largest first, of equal ones the first.
std::vector<std::int64_t> LargestOf(std::span<const float> probabilities, std::int64_t most);

// A line of titles, then one for each sample:
//   input,class,name,probability,p0,p1,...   of classes and tokens
//   input,p0,p1,...                          of yes or no
//   input,y0,y1,...                          of values
std::string PredictionsCsv(const Predictions& predictions);
// A list with an object of the same for each sample.
std::string PredictionsJson(const Predictions& predictions);

// Writes the file in the form that its name tells: .csv, .json, or .npy, which has the outputs
// themselves. Throws FileError for other names, and where it cannot be written.
void WritePredictions(const std::string& path, const Predictions& predictions);
// Refuses what WritePredictions would refuse about the name.
void CheckPredictionsPath(const std::string& path);

}  // namespace frugal
