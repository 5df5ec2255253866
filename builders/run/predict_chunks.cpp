#include "builders/run/predict_chunks.h"

#include <algorithm>

#include "builders/budget/free_knobs.h"

namespace frugal {
namespace {

// Samples [begin, begin + count) of an input that holds `all` of them.
InputValues Part(const InputValues& values, std::int64_t begin, std::int64_t count,
                 std::int64_t all) {
  return std::visit(
      [&](const auto& span) -> InputValues {
        const std::size_t each = span.size() / static_cast<std::size_t>(all);
        return span.subspan(each * static_cast<std::size_t>(begin),
                            each * static_cast<std::size_t>(count));
      },
      values);
}

// Puts each output of a chunk of `size` samples behind those of the chunks before it.
void Append(const PredictedValues& chunk, std::int64_t size, std::int64_t count,
            PredictedValues& all) {
  if (all.empty()) all.resize(chunk.size());
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (all[i].empty()) {
      all[i].reserve(chunk[i].size() / static_cast<std::size_t>(size) *
                     static_cast<std::size_t>(count));
    }
    all[i].insert(all[i].end(), chunk[i].begin(), chunk[i].end());
  }
}

}  // namespace

std::int64_t PredictBatchOf(const TrainingSetup& setup) {
  return setup.trains() ? setup.schedule.evaluation_batch : setup.schedule.predict_batch;
}

PredictedValues PredictInChunks(const TrainingSetup& setup, std::span<const InputValues> inputs,
                                std::int64_t count, const PredictChunk& predict) {
  const std::int64_t batch = PredictBatchOf(setup);
  if (count <= batch || MixesSamples(setup)) return predict(inputs, count);
  PredictedValues all;
  for (std::int64_t begin = 0; begin < count; begin += batch) {
    const std::int64_t size = std::min(batch, count - begin);
    std::vector<InputValues> parts;
    for (const InputValues& values : inputs) parts.push_back(Part(values, begin, size, count));
    Append(predict(parts, size), size, count, all);
  }
  return all;
}

}  // namespace frugal
