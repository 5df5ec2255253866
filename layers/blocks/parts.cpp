#include "layers/blocks/parts.h"

#include "layers/residual.h"
#include "layers/simple_layers.h"
#include "sdk/core/error.h"
#include "sdk/ops/shape_ops.h"

namespace frugal::architectures {

void CheckAtLeast(const char* family, const char* key, std::int64_t value, std::int64_t least) {
  if (value >= least) return;
  throw ConfigError({.where = std::string(family) + "." + key,
                     .required = "at least " + std::to_string(least),
                     .given = std::to_string(value),
                     .advice = "give the size as its publication has it"});
}

void CheckHeads(const char* family, const char* key, std::int64_t heads, std::int64_t features) {
  CheckAtLeast(family, key, heads);
  if (features % heads == 0) return;
  throw ConfigError({.where = std::string(family) + "." + key,
                     .required = "heads divide the " + std::to_string(features) + " features",
                     .given = std::to_string(heads),
                     .advice = "choose a divisor of " + std::to_string(features)});
}

void CheckDivides(const char* family, const char* key, std::int64_t divisor, std::int64_t value,
                  const char* what) {
  CheckAtLeast(family, key, divisor);
  if (value >= 1 && value % divisor == 0) return;
  throw ConfigError({.where = std::string(family) + "." + key,
                     .required = std::to_string(divisor) + " divides " + what,
                     .given = std::to_string(value),
                     .advice = "choose a multiple of " + std::to_string(divisor)});
}

void CheckIs(const char* family, const char* key, std::int64_t value, std::int64_t expected,
             const char* what) {
  if (value == expected) return;
  throw ConfigError({.where = std::string(family) + "." + key,
                     .required = std::to_string(expected) + ": " + what,
                     .given = std::to_string(value),
                     .advice = "set it to " + std::to_string(expected)});
}

std::vector<Var> Chunks(Context& context, const Var& x, std::int64_t count) {
  const auto axis = static_cast<std::int64_t>(x.shape().rank()) - 1;
  const std::int64_t width = x.shape().back() / count;
  std::vector<Var> chunks;
  for (std::int64_t i = 0; i < count; ++i) {
    chunks.push_back(Slice(context, x, {{axis, i * width, (i + 1) * width}}));
  }
  return chunks;
}

std::unique_ptr<Dense> MakeProjection(std::int64_t inputs, const ProjectionOptions& options) {
  return std::make_unique<Dense>(
      inputs, DenseOptions{.units = options.outputs,
                           .activation = options.activation,
                           .bias = options.bias,
                           .initializer = Initializer::Normal(0, options.init_std),
                           .layout = options.layout});
}

void AppendDropout(Sequential& list, std::string name, double rate) {
  if (rate <= 0) return;
  list.Append(std::move(name), std::make_unique<DropoutLayer>(DropoutOptions{.rate = rate}));
}

void AppendResidual(Sequential& list, std::string name, std::unique_ptr<Sequential> body) {
  list.AppendUnnamed(std::move(name),
                     std::make_unique<Residual>(std::move(body), nullptr, ResidualOptions()));
}

}  // namespace frugal::architectures
