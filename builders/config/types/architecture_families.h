#pragma once

#include <string>
#include <utility>
#include <vector>

#include "builders/config/types/architecture_config.h"

// The families' tables, in which their struct, its fields and the network made of it stand
// together.
namespace frugal {

template <class Config>
ArchitectureFamily RowOf(std::string name, FieldTable fields,
                         std::unique_ptr<Sequential> (*make)(const Config&)) {
  return {std::move(name), Config(), std::move(fields),
          [make](const ArchitectureConfig& config) { return make(std::get<Config>(config)); }};
}

std::vector<ArchitectureFamily> ClassicFamilies();  // gpt2, llama, bert, vit, resnet
std::vector<ArchitectureFamily> DitFamilies();      // dit, sit, uvit, flag_dit
std::vector<ArchitectureFamily> UNetFamilies();     // unet ... pixel_unet
std::vector<ArchitectureFamily> StreamFamilies();   // mmdit, flux, cogvideox, asymmdit, emmdit

}  // namespace frugal
