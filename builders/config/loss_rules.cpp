#include "builders/config/loss_rules.h"

#include <algorithm>

#include "builders/config/owned_fields.h"

namespace frugal {
namespace {

std::string KindText(const RunConfig& config) {
  return "kind = \"" + std::string(NameOf(config.loss.kind)) + "\"";
}

bool IsDiffusion(const RunConfig& config) { return config.diffusion.kind != DiffusionKind::kNone; }

void CheckLossOfDiffusion(const RunConfig& config, Diagnostics& diagnostics) {
  const bool chosen = config.origins.Of("loss.kind").kind != OriginKind::kDefault;
  const bool compares = TargetsOf(config.loss.kind) == LossTargets::kValues;
  if (!chosen || config.loss.function || compares) return;
  diagnostics.Add(config.origins.PlaceOf("loss.kind"),
                  {.where = "loss",
                   .required = "diffusion compares values: mse, l1 or huber",
                   .given = KindText(config),
                   .advice = "leave it out (mse), or choose one of them"});
}

void CheckLossFields(const RunConfig& config, Diagnostics& diagnostics) {
  const LossOptions& o = config.loss;
  const LossOptions d;
  using Kind = LossKind;
  const std::vector<std::string> logits = NamesOf<Kind>({Kind::kCrossEntropy, Kind::kFocal});
  const std::vector<std::string> focal = NamesOf<Kind>({Kind::kFocal});
  const std::vector<std::string> ctc = NamesOf<Kind>({Kind::kCtc});
  const std::string kind = o.name.empty() ? std::string(NameOf(o.kind)) : o.name;
  std::vector<std::string> ignoring =
      NamesOf<Kind>({Kind::kCrossEntropy, Kind::kFocal, Kind::kCtc});
  if (!o.name.empty()) ignoring.push_back(o.name);  // labels that a batch may hold for it
  CheckOwnedFields(config, {.section = "loss", .kind = kind, .owner = "the loss "},
                   {{"label_smoothing", o.label_smoothing != d.label_smoothing,
                     NamesOf<Kind>({Kind::kCrossEntropy})},
                    {"ignore_index", o.ignore_index != d.ignore_index, ignoring},
                    {"delta", o.delta != d.delta, NamesOf<Kind>({Kind::kHuber})},
                    {"class_weights", !o.class_weights.empty(), logits},
                    {"gamma", o.gamma != d.gamma, focal},
                    {"alpha", o.alpha != d.alpha, focal},
                    {"margin", o.margin != d.margin, NamesOf<Kind>({Kind::kHinge, Kind::kTriplet})},
                    {"blank", o.blank != d.blank, ctc},
                    {"zero_infinity", o.zero_infinity != d.zero_infinity, ctc}},
                   diagnostics);
  const bool weighs = std::ranges::any_of(o.class_weights, [](double w) { return w > 0; });
  if (o.class_weights.empty() || weighs) return;
  diagnostics.Add(config.origins.PlaceOf("loss.class_weights"),
                  {.where = "loss",
                   .required = "some class has a weight above 0",
                   .given = "all class_weights are 0",
                   .advice = "give those that are to be learned a weight"});
}

// Built-in data, images and texts, have labels.
void CheckTakesLabels(const RunConfig& config, Diagnostics& diagnostics) {
  if (TakesLabels(config.loss.kind)) return;
  diagnostics.Add(
      config.origins.PlaceOf("loss.kind"),
      {.where = "loss",
       .required = "the data has class labels, which cross_entropy, focal and hinge take",
       .given = KindText(config),
       .advice = "set kind = \"cross_entropy\", or bring data with real targets"});
}

std::string LabelsText(const DataLayout& layout) {
  std::string text = "labels in [0, " + std::to_string(layout.classes) + ")";
  if (layout.label_shape.rank() > 0) text += " of shape " + ToString(layout.label_shape);
  return text;
}

// One mistake of the loss beside these data; its key, or nothing.
struct Mistake {
  std::string key;
  Diagnostic diagnostic;
};

std::optional<Mistake> TargetsMistake(const RunConfig& config, const DataLayout& layout) {
  const LossTargets takes = TargetsOf(config.loss.kind);
  const bool has_labels = layout.classes > 0;
  if (takes == (has_labels ? LossTargets::kLabels : LossTargets::kValues)) return std::nullopt;
  const std::string name(NameOf(config.loss.kind));
  if (takes == LossTargets::kNothing) {
    if (!has_labels) return std::nullopt;
    return Mistake{
        "loss.kind",
        {.where = "loss",
         .required = name + " compares rows of the network's output with each other",
         .given = "the data have " + LabelsText(layout) + ", which nothing would read",
         .advice = "set DataLayout::classes to 0, or use cross_entropy, focal or hinge"}};
  }
  if (has_labels) {
    return Mistake{"loss.kind",
                   {.where = "loss",
                    .required = name + " compares with real targets",
                    .given = "the data have " + LabelsText(layout),
                    .advice = "use cross_entropy, focal or hinge, or give real targets: "
                              "DataLayout{.classes = 0, .target_shape = ...}"}};
  }
  return Mistake{"loss.kind",
                 {.where = "loss",
                  .required = name + " compares with class labels",
                  .given = "the data have real targets of shape " + ToString(layout.target_shape) +
                           " (DataLayout::classes is 0)",
                  .advice = "use mse, l1, huber or another loss for real targets, or say how many "
                            "DataLayout::classes there are"}};
}

std::optional<Mistake> ClassesMistake(const RunConfig& config, const DataLayout& layout) {
  const LossOptions& loss = config.loss;
  const auto weights = static_cast<std::int64_t>(loss.class_weights.size());
  const std::string classes = std::to_string(layout.classes);
  if (weights > 0 && weights != layout.classes) {
    return Mistake{
        "loss.class_weights",
        {.where = "loss",
         .required = "class_weights has a weight for each of the " + classes + " classes",
         .given = std::to_string(weights) + " were given",
         .advice = "list them in the order of the classes"}};
  }
  if (loss.kind != LossKind::kCtc) return std::nullopt;
  if (loss.blank >= layout.classes) {
    return Mistake{"loss.blank",
                   {.where = "loss",
                    .required = "the blank is one of the " + classes + " classes",
                    .given = "blank = " + std::to_string(loss.blank),
                    .advice = "count the blank among DataLayout::classes"}};
  }
  if (layout.label_shape.rank() == 1) return std::nullopt;
  return Mistake{"loss.kind",
                 {.where = "loss",
                  .required = "ctc takes a row of labels for each sample",
                  .given = "the data have " + LabelsText(layout),
                  .advice = "use cross_entropy, or bring rows of labels: DataLayout::label_shape "
                            "= {L}, L the most of a sample, the others padded with ignore_index"}};
}

}  // namespace

std::string UnequalKey(const LossOptions& loss) {
  return loss.class_weights.empty() || loss.function ? "ignore_index" : "class_weights";
}

std::string UnequalCount(const LossOptions& loss) {
  const std::string key = UnequalKey(loss);
  return (key == "ignore_index" ? "leaves out labels (" : "weighs labels (") + key + ")";
}

void CheckLoss(const RunConfig& config, bool custom_data, Diagnostics& diagnostics) {
  CheckLossFields(config, diagnostics);
  if (IsDiffusion(config)) return CheckLossOfDiffusion(config, diagnostics);
  if (!custom_data && !config.loss.function) CheckTakesLabels(config, diagnostics);
}

void CheckPartsOfOutput(std::int64_t parts, const std::string& output, const LossOptions& loss) {
  if (parts == 1 || CountsSamplesAlike(loss)) return;
  throw ConfigError(
      {.where = "model",
       .required = "parts of a batch count by their samples",
       .given = "a step has " + std::to_string(parts) + " parts, and the loss of output '" +
                output + "' " + UnequalCount(loss),
       .advice = "use gradient_accumulation_steps = 1 and one device, or no " + UnequalKey(loss)});
}

void CheckLossOfData(const RunConfig& config, const DataLayout& layout) {
  if (layout.sample_weights && config.loss.function) {
    throw ConfigError({.where = "loss",
                       .required = "a loss of the program's own takes outputs and targets",
                       .given = "the data have sample weights, which it would not see",
                       .advice = "use a loss by name, or put the weights into the targets"});
  }
  if (IsDiffusion(config) || config.loss.function) return;
  std::optional<Mistake> mistake = TargetsMistake(config, layout);
  if (!mistake) mistake = ClassesMistake(config, layout);
  if (mistake) throw ConfigError(mistake->diagnostic, config.origins.PlaceOf(mistake->key));
}

}  // namespace frugal
