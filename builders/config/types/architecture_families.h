#pragma once

#include <vector>

#include "builders/config/types/architecture_config.h"

// The families' tables; all together in the order of ArchitectureConfig.
namespace frugal {

std::vector<ArchitectureFamily> ClassicFamilies();  // gpt2, llama, bert, vit, resnet
std::vector<ArchitectureFamily> DitFamilies();      // dit, sit, uvit, flag_dit
std::vector<ArchitectureFamily> UNetFamilies();     // unet ... pixel_unet
std::vector<ArchitectureFamily> StreamFamilies();   // mmdit, flux, cogvideox, asymmdit, emmdit

}  // namespace frugal
