#pragma once

#include <string>
#include <vector>

#include "layers/types/family_row.h"

// Fields that several families of U-Nets have.
namespace frugal::architectures {

inline const FieldLimits kPerStage = {
    .min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 16, .single_ok = true};
// Every block is made as objects, and the two counts multiply.
inline const FieldLimits kBlocks = {
    .min = 1, .max = 1000, .min_items = 1, .max_items = 16, .single_ok = true};
inline const FieldLimits kTransformerBlocks = {
    .min = 1, .max = 100, .min_items = 1, .max_items = 16, .single_ok = true};
inline const FieldLimits kStages = {.min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 16};
inline const FieldLimits kTypes = {.min_items = 1, .max_items = 16};

// Makes freq_shift of U-Nets over noisy images.
template <class T>
Field ShiftField(double T::*member) {
  return MakeField("freq_shift", member, "Of the frequencies of time features.",
                   {.min = 0, .max = 1});
}

template <class T>
Field PaddingField(std::int64_t T::*member) {
  return MakeField("downsample_padding", member,
                   "Zeros around what is halved; 0: one row and column at the end.",
                   {.min = 0, .max = 1});
}

template <class T>
Field ClassesField(std::int64_t T::*member) {
  return MakeField("num_class_embeds", member, "Classes; 0: without.",
                   {.min = 0, .max = kMostPerAxis});
}

template <class T, class M>
Field BlocksField(M T::*member) {
  return MakeField("layers_per_block", member, "Residual blocks of a stage.", kBlocks);
}

// Returns the fields that U-Nets with cross attention and ControlNets share.
std::vector<Field> TrunkFields();
// Returns the fields of ControlNets, one hint or several.
std::vector<Field> HintedFields();

}  // namespace frugal::architectures
