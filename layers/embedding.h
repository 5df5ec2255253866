#pragma once

#include "sdk/module/layer.h"

namespace frugal {

struct EmbeddingOptions {
  std::int64_t vocabulary = 0;
  std::int64_t units = 0;  // output features
  double init_std = 0.02;  // of the normal distribution that the table starts from
  std::optional<std::int64_t> padding_token{};  // whose row is not trained
};

// Token numbers kI64 [N, T] in [0, vocabulary) -> [N, T, units]. Parameter: weight
// [vocabulary, units].
class TokenEmbedding final : public Layer {
 public:
  // Throws ConfigError for sizes below 1.
  explicit TokenEmbedding(const EmbeddingOptions& options);

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;
  bool TakesTokens() const override { return true; }
  // Returns the weight for a projection that is tied to it.
  Parameter& weight() { return weight_; }

 private:
  Var Forward(Context& context, const Var& input) override;

  Parameter& weight_;
  std::int64_t padding_;
};

struct PositionOptions {
  std::int64_t positions = 0;  // the longest sequence
  double init_std = 0.02;
};

// Adds a learned row to each position: [N, T, D] -> [N, T, D], T <= positions. Parameter: weight
// [positions, D].
class LearnedPositions final : public Layer {
 public:
  LearnedPositions(std::int64_t features, const PositionOptions& options);

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;

 private:
  Var Forward(Context& context, const Var& input) override;

  Parameter& weight_;
};

struct SinusoidOptions {
  double base = 10000;
};

// Adds sin(t / base^(2i/D)) to feature 2i and the cosine to 2i + 1 of position t (Vaswani et al.,
// arXiv:1706.03762, section 3.5). [N, T, D] -> [N, T, D], D even, any T.
class SinusoidalPositions final : public Layer {
 public:
  explicit SinusoidalPositions(const SinusoidOptions& options) : options_(options) {}

  LayerKind kind() const override { return LayerKind::kEmbedding; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override { return "sinusoidal positions"; }

 private:
  Var Forward(Context& context, const Var& input) override;

  SinusoidOptions options_;
};

// x W^T with the table of an embedding (Press & Wolf, arXiv:1608.05859): [N, T, features] ->
// [N, T, vocabulary]. The table is found as this layer's "weight" too.
class TiedProjection final : public Layer {
 public:
  explicit TiedProjection(Parameter& table) : weight_(AddShared("weight", table)) {}

  LayerKind kind() const override { return LayerKind::kDense; }
  bool WorksByPosition() const override { return true; }
  std::string Describe() const override;
  std::optional<Projection> LastProjection() const override {
    return Projection{&weight_, nullptr};
  }

 private:
  Var Forward(Context& context, const Var& input) override;

  const Parameter& weight_;
};

}  // namespace frugal
