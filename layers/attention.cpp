#include "layers/attention.h"

#include "layers/types/row.h"
#include "sdk/core/error.h"
#include "sdk/module/key_value_cache.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/linear.h"
#include "sdk/ops/rotary.h"
#include "sdk/ops/support/check.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(const std::string& required, const std::string& given,
                         const std::string& advice) {
  throw ConfigError({.where = "attention", .required = required, .given = given, .advice = advice});
}

AttentionLayerOptions Completed(std::int64_t features, AttentionLayerOptions options) {
  if (options.heads < 1) {
    Refuse("at least 1 head", "heads = " + std::to_string(options.heads), "say how many");
  }
  if (options.key_heads == 0) options.key_heads = options.heads;
  if (options.key_heads < 1 || options.heads % options.key_heads != 0) {
    Refuse("key_heads divide the " + std::to_string(options.heads) + " heads",
           "key_heads = " + std::to_string(options.key_heads), "choose a divisor of the heads");
  }
  if (options.head_size < 0) {
    Refuse("head_size is at least 1, or 0 for features / heads",
           "head_size = " + std::to_string(options.head_size), "leave it out");
  }
  if (options.head_size == 0 && features % options.heads != 0) {
    Refuse("heads divide the " + std::to_string(features) + " features",
           "heads = " + std::to_string(options.heads), "choose a divisor, or give head_size");
  }
  if (options.head_size == 0) options.head_size = features / options.heads;
  if (options.rotary_base > 0 && options.head_size % 2 != 0) {
    Refuse("rotary positions rotate heads of an even size",
           "head_size = " + std::to_string(options.head_size), "choose an even size");
  }
  return options;
}

}  // namespace

AttentionLayer::AttentionLayer(std::int64_t features, const AttentionLayerOptions& options,
                               const AttentionNames& names, std::int64_t memory_features)
    : features_(features), options_(Completed(features, options)) {
  const double init_std = options_.init_std;
  const std::int64_t memory = memory_features == 0 ? features : memory_features;
  if (options_.fused) {
    fused_ =
        AddLinear(names.fused, features, QueryWidth() + 2 * KeyWidth(), options_.bias, init_std);
  } else {
    query_ = AddLinear(names.query, features, QueryWidth(), options_.bias, init_std);
    key_ = AddLinear(names.key, memory, KeyWidth(), options_.bias, init_std);
    value_ = AddLinear(names.value, memory, KeyWidth(), options_.bias, init_std);
  }
  if (!names.second_key.empty()) {
    second_key_ = AddLinear(names.second_key, memory, KeyWidth(), options_.bias, init_std);
    second_value_ = AddLinear(names.second_value, memory, KeyWidth(), options_.bias, init_std);
  }
  output_ = AddLinear(names.output, QueryWidth(), features,
                      options_.output_bias.value_or(options_.bias), options_.output_init_std);
}

AttentionLayer::Linear AttentionLayer::AddLinear(const std::string& name, std::int64_t inputs,
                                                 std::int64_t outputs, bool bias, double init_std) {
  const Shape shape =
      options_.layout == WeightLayout::kOutIn ? Shape{outputs, inputs} : Shape{inputs, outputs};
  const std::string path = name.ends_with('_') ? name : name + ".";
  Linear linear;
  linear.weight = &AddParameter(path + "weight", shape, Initializer::Normal(0, init_std));
  if (bias) linear.bias = &AddParameter(path + "bias", {outputs}, Initializer::Zero());
  return linear;
}

std::string AttentionLayer::Describe() const {
  std::string text =
      "attention " + std::to_string(features_) + ", " + std::to_string(options_.heads) + " heads";
  if (options_.key_heads != options_.heads) {
    text += ", " + std::to_string(options_.key_heads) + " key heads";
  }
  return text + (options_.causal ? ", causal" : "") + (options_.rotary_base > 0 ? ", rotary" : "");
}

Var AttentionLayer::Apply(Context& context, const Linear& linear, const Var& x) const {
  return frugal::Linear(context, x, *linear.weight, linear.bias, {.layout = options_.layout});
}

AttentionLayer::Heads AttentionLayer::ProjectFused(Context& context, const Var& x) {
  const Var all = Apply(context, fused_, x);
  return {{all, 0}, {all, QueryWidth()}, {all, QueryWidth() + KeyWidth()}};
}

AttentionLayer::Heads AttentionLayer::ProjectApart(Context& context, const Var& x,
                                                   const Var& memory) {
  return {{Apply(context, query_, x), 0},
          {Apply(context, key_, memory), 0},
          {Apply(context, value_, memory), 0}};
}

// Queries and keys by the angles of their positions.
void AttentionLayer::RotateByPosition(Context& context, Heads& heads) {
  const std::int64_t first = context.cache() ? context.cache()->length() : 0;
  const RotaryAngles angles = AnglesOf(context, {.first = first,
                                                 .positions = heads.q.source.shape()[1],
                                                 .rotary_size = options_.head_size,
                                                 .base = options_.rotary_base});
  RotaryGeometry g{.offset = heads.q.offset,
                   .heads = options_.heads,
                   .head_size = options_.head_size,
                   .rotary_size = options_.head_size};
  const Var queries = Rotate(context, heads.q.source, g, angles.cosine, angles.sine);
  if (options_.fused) heads.k.source = queries;
  g.offset = heads.k.offset;
  g.heads = options_.key_heads;
  const Var keys = Rotate(context, heads.k.source, g, angles.cosine, angles.sine);
  heads.q.source = options_.fused ? keys : queries;
  heads.k.source = keys;
  if (options_.fused) heads.v.source = keys;
}

VarHeads AttentionLayer::Remember(Context& context, const VarHeads& heads,
                                  const std::string& name) {
  const Tensor all = context.cache()->Append(context, path() + "." + name, heads.source.value,
                                             heads.offset, KeyWidth());
  return {{all, Var::kNoGradient}, 0};
}

// Fused projections read x alone, and both ends of a rotary distance count in one sequence.
void AttentionLayer::CheckMemory(Context& context, const Var& x, const Var& memory) const {
  if (memory.value.raw() == x.value.raw() && memory.shape() == x.shape() && memory.slot == x.slot) {
    return;
  }
  if (options_.fused) {
    throw UsageError({.where = path(),
                      .required = "attention over something else has projections of its own for it",
                      .given = "queries, keys and values come from one product",
                      .advice = "set AttentionLayerOptions::fused = false"});
  }
  if (options_.rotary_base > 0) {
    ThrowShape(context, "rotary positions are those of one sequence", memory.shape(),
               "set rotary_base = 0 for attention over something else");
  }
}

void AttentionLayer::CheckLength(Context& context, const Var& x) const {
  const std::int64_t before = context.cache() ? context.cache()->length() : 0;
  if (options_.longest == 0 || before + x.shape()[1] <= options_.longest) return;
  ThrowShape(context, "sequences have at most " + std::to_string(options_.longest) + " positions",
             x.shape(), "use shorter sequences");
}

void AttentionLayer::CheckInput(Context& context, const Var& x) const {
  if (x.shape().rank() == 3 && x.shape().back() == features_) return;
  ThrowShape(context, "attention takes [batch, positions, " + std::to_string(features_) + "]",
             x.shape(), "change the layer's features, or turn the input into a sequence");
}

Var AttentionLayer::AttendHeads(Context& context, const Var& x, const Var& memory,
                                const Tensor& mask) {
  CheckInput(context, x);
  CheckMemory(context, x, memory);
  CheckLength(context, x);
  Heads heads = options_.fused ? ProjectFused(context, x) : ProjectApart(context, x, memory);
  if (options_.rotary_base > 0) RotateByPosition(context, heads);
  if (context.cache() != nullptr && options_.causal) {
    heads.k = Remember(context, heads.k, "keys");
    heads.v = Remember(context, heads.v, "values");
  }
  return Mix(context, heads, mask);
}

Var AttentionLayer::Mix(Context& context, const Heads& heads, const Tensor& mask) const {
  return Attention(context, heads.q, heads.k, heads.v,
                   {.heads = options_.heads,
                    .key_heads = options_.key_heads,
                    .head_size = options_.head_size,
                    .causal = options_.causal,
                    .mask = mask});
}

Var AttentionLayer::Attended(Context& context, const Var& x, const Var& memory,
                             const Tensor& mask) {
  return Apply(context, output_, AttendHeads(context, x, memory, mask));
}

Var AttentionLayer::Attend(Context& context, const Var& x, const Var& memory, const Tensor& mask) {
  VarTuple vars = {x, memory};
  RunPart(context, vars, [this, mask](Context& ctx, VarTuple& inner) {
    inner = {Attended(ctx, inner[0], inner[1], mask)};
  });
  return std::move(vars[0]);
}

Var AttentionLayer::AttendBoth(Context& context, const Var& x, const Var& memory,
                               const Var& second) {
  VarTuple vars = {x, memory, second};
  RunPart(context, vars, [this](Context& ctx, VarTuple& inner) {
    inner = {AttendedBoth(ctx, inner[0], inner[1], inner[2])};
  });
  return std::move(vars[0]);
}

Var AttentionLayer::AttendedBoth(Context& context, const Var& x, const Var& memory,
                                 const Var& second) {
  if (second_key_.weight == nullptr || options_.fused) {
    throw UsageError({.where = path(),
                      .required = "a second memory has projections of its own",
                      .given = "this attention has one memory",
                      .advice = "set AttentionNames::second_key and second_value, and not fused"});
  }
  CheckInput(context, x);
  Heads heads = ProjectApart(context, x, memory);
  const Var first = Mix(context, heads, {});
  heads.k = {Apply(context, second_key_, second), 0};
  heads.v = {Apply(context, second_value_, second), 0};
  return Apply(context, output_, Add(context, first, Mix(context, heads, {})));
}

Var AttentionLayer::ForwardUpToProjection(Context& context, const Var& input) {
  return AttendHeads(context, input, input, {});
}

Var AttentionLayer::Forward(Context& context, const Var& input) {
  return Attended(context, input, input, {});
}

LayerType AttentionType() {
  using O = AttentionLayerOptions;
  FieldLimits or_zero = SizeLimits();
  or_zero.min = 0;
  return RowOf<AttentionLayerOptions>(
      "attention",
      {MakeField("heads", &O::heads, "Divides the features, unless head_size is given.",
                 SizeLimits()),
       MakeField("key_heads", &O::key_heads, "Divides heads; 0: as many. Fewer: grouped queries.",
                 or_zero),
       MakeField("head_size", &O::head_size, "Features of a head; 0: features / heads.", or_zero),
       MakeField("causal", &O::causal, "Whether a position sees only those up to itself."),
       MakeField("bias", &O::bias, "Whether the projections have biases."),
       MakeField("rotary_base", &O::rotary_base,
                 "Of the angles that queries and keys turn by; 0: they do not.", {.min = 0})},
      OfFeatures<AttentionLayer>);
}

}  // namespace frugal
