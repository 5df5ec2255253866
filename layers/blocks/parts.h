#pragma once

#include <memory>

#include "layers/attention.h"
#include "layers/dense.h"
#include "layers/sequential.h"

// The architectures have these parts in common.
namespace frugal::architectures {

// Throws ConfigError naming the family and the key unless value >= least.
void CheckAtLeast(const char* family, const char* key, std::int64_t value, std::int64_t least = 1);

// Throws ConfigError naming the family and the key unless the heads divide the features.
void CheckHeads(const char* family, const char* key, std::int64_t heads, std::int64_t features);

// Throws ConfigError naming the family and the key unless `divisor` divides `value`, the size of
// `what`.
void CheckDivides(const char* family, const char* key, std::int64_t divisor, std::int64_t value,
                  const char* what);

// Throws ConfigError naming the family and the key unless value == expected, which is `what`.
void CheckIs(const char* family, const char* key, std::int64_t value, std::int64_t expected,
             const char* what);

// The last axis of x cut into `count` equal pieces.
std::vector<Var> Chunks(Context& context, const Var& x, std::int64_t count);

struct ProjectionOptions {
  std::int64_t outputs = 0;
  ActivationFunction activation{};
  bool bias = true;
  WeightLayout layout = WeightLayout::kOutIn;
  double init_std = 0.02;
};
// A dense layer that starts from a normal distribution.
std::unique_ptr<Dense> MakeProjection(std::int64_t inputs, const ProjectionOptions& options);

// Appends dropout, where the rate is above zero.
void AppendDropout(Sequential& list, std::string name, double rate);

// Appends x + body(x), whose own name no parameter's path has.
void AppendResidual(Sequential& list, std::string name, std::unique_ptr<Sequential> body);

}  // namespace frugal::architectures
