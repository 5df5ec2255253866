#pragma once

#include <span>
#include <string_view>

#include "sdk/backend/backend.h"
#include "sdk/backend/geometry.h"
#include "sdk/capture/calls/call.h"

// Shows the fields of what kernels take as a struct, each by its name, and spells enums.
namespace frugal {

std::span<const std::string_view> ChoicesOf(Activation);
std::span<const std::string_view> ChoicesOf(WeightLayout);
std::span<const std::string_view> ChoicesOf(Regression);
std::span<const std::string_view> ChoicesOf(RowLossKind);
std::span<const std::string_view> ChoicesOf(BinaryKind);
std::span<const std::string_view> ChoicesOf(UnaryKind);
std::span<const std::string_view> ChoicesOf(RotaryPairing);

void VisitFields(CallVisitor& visitor, ConvGeometry& g);
void VisitFields(CallVisitor& visitor, PoolGeometry& g);
void VisitFields(CallVisitor& visitor, GroupNormGeometry& g);
void VisitFields(CallVisitor& visitor, AttentionGeometry& g);
void VisitFields(CallVisitor& visitor, RotaryGeometry& g);
void VisitFields(CallVisitor& visitor, LinearEpilogue& epilogue);
void VisitFields(CallVisitor& visitor, UnaryFunction& f);
void VisitFields(CallVisitor& visitor, std::string_view prefix, StridedView& box);

void VisitFields(CallVisitor& visitor, LossKernels::CrossEntropyOptions& options);
void VisitFields(CallVisitor& visitor, LossKernels::WeightedCrossEntropyOptions& options);
void VisitFields(CallVisitor& visitor, RowLoss& loss);
void VisitFields(CallVisitor& visitor, CtcOptions& options);

void VisitFields(CallVisitor& visitor, SgdArguments& arguments);
void VisitFields(CallVisitor& visitor, AdamArguments& arguments);
void VisitFields(CallVisitor& visitor, RmsPropArguments& arguments);
void VisitFields(CallVisitor& visitor, AdagradArguments& arguments);
void VisitFields(CallVisitor& visitor, AdadeltaArguments& arguments);
void VisitFields(CallVisitor& visitor, NAdamArguments& arguments);
void VisitFields(CallVisitor& visitor, RAdamArguments& arguments);
void VisitFields(CallVisitor& visitor, AdamaxArguments& arguments);

void VisitHeads(CallVisitor& visitor, std::string_view name, HeadsView& heads);
// Shows heads that are written, `width` elements of each row.
void VisitHeadGradients(CallVisitor& visitor, std::string_view name, HeadsView& heads,
                        std::int64_t width);

double FlopsOf(const ConvGeometry& g);
// Returns those of one product of queries with keys, of all heads.
double ProductFlopsOf(const AttentionGeometry& g);

}  // namespace frugal
