#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/loss/loss.h"
#include "sdk/backend/eigen/loss/row_terms.h"
#include "sdk/backend/eigen/loss/weights.h"

namespace frugal {
namespace eigen {
namespace {

// Calls body with the terms of a regression.
template <class Body>
void WithRegressionRow(Regression kind, double delta, const Body& body) {
  using enum Regression;
  switch (kind) {
    case kMse:
      return body(RegressionRow<kMse>{delta});
    case kL1:
      return body(RegressionRow<kL1>{delta});
    case kHuber:
      return body(RegressionRow<kHuber>{delta});
    case kBceWithLogits:
      return body(RegressionRow<kBceWithLogits>{delta});
  }
}

// Calls body(terms, target of a row), where that is a label, a row or null.
template <class T, class Body>
void WithTerms(const RowLoss& loss, const Tensor& targets, std::int64_t columns, const Body& body) {
  const auto row_of = [&targets, columns](std::int64_t row) {
    return targets ? targets.data<T>() + row * columns : nullptr;
  };
  switch (loss.kind) {
    case RowLossKind::kRegression:
      return WithRegressionRow(loss.regression, loss.delta,
                               [&](const auto& terms) { body(terms, row_of); });
    case RowLossKind::kHinge:
      return body(HingeRow{loss.margin},
                  [&](std::int64_t row) { return targets.data<std::int64_t>()[row]; });
    case RowLossKind::kKlDivergence:
      return body(KlRow(), row_of);
    case RowLossKind::kCosine:
      return body(CosineRow(), row_of);
    case RowLossKind::kTriplet:
      return body(TripletRow{loss.margin}, [](std::int64_t) -> const T* { return nullptr; });
  }
}

void RequireLabels(const RowLoss& loss, const Tensor& targets, std::int64_t classes) {
  if (loss.kind != RowLossKind::kHinge) return;
  std::int64_t row = 0;
  for (const std::int64_t label : targets.values<std::int64_t>()) {
    RequireLabel("hinge loss", label, row++, classes);
  }
}

double OneOverDivisor(const RowLoss& loss) { return loss.divisor == 0 ? 0 : 1 / loss.divisor; }

}  // namespace
}  // namespace eigen

void EigenLossKernels::RowLossForward(const RowLoss& row_loss, const Tensor& x,
                                      const Tensor& targets, const Tensor& loss) {
  const std::int64_t columns = x.shape().back();
  const std::int64_t rows = x.shape().RowCount();
  eigen::RequireLabels(row_loss, targets, columns);
  eigen::WithFloating("loss by rows", x.dtype(), [&]<class T>() {
    const eigen::SampleWeights<T> weights(row_loss.sample_weights, rows);
    double sum = 0;
    eigen::WithTerms<T>(row_loss, targets, columns, [&](const auto& terms, const auto& target) {
      const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
        double part = 0;
        for (std::int64_t row = begin; row < end; ++row) {
          part +=
              weights.OfRow(row) * terms.LossOf(x.data<T>() + row * columns, target(row), columns);
        }
        return part;
      };
      sum = eigen::ParallelSum(rows, eigen::RowsPerChunk(columns), add_rows);
    });
    loss.data<T>()[0] = static_cast<T>(sum * eigen::OneOverDivisor(row_loss));
  });
}

void EigenLossKernels::RowLossBackward(const RowLoss& row_loss, const Tensor& dloss,
                                       const Tensor& x, const Tensor& targets, const Tensor& dx) {
  const std::int64_t columns = x.shape().back();
  const std::int64_t rows = x.shape().RowCount();
  eigen::WithFloating("loss by rows, backward", x.dtype(), [&]<class T>() {
    const eigen::SampleWeights<T> weights(row_loss.sample_weights, rows);
    const double factor = static_cast<double>(dloss.data<T>()[0]) * eigen::OneOverDivisor(row_loss);
    eigen::WithTerms<T>(row_loss, targets, columns, [&](const auto& terms, const auto& target) {
      const auto write = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          terms.Gradient(x.data<T>() + row * columns, target(row), columns,
                         factor * weights.OfRow(row), dx.data<T>() + row * columns);
        }
      };
      ParallelFor(rows, eigen::RowsPerChunk(columns), write);
    });
  });
}

}  // namespace frugal
