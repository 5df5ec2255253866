#pragma once

// The structs of our families of architectures, for builder.Architecture(Gpt2Config{...}).

#include "layers/architectures/asymmdit.h"
#include "layers/architectures/bert.h"
#include "layers/architectures/cogvideox.h"
#include "layers/architectures/dit.h"
#include "layers/architectures/emmdit.h"
#include "layers/architectures/flag_dit.h"
#include "layers/architectures/flux.h"
#include "layers/architectures/gpt2.h"
#include "layers/architectures/llama.h"
#include "layers/architectures/mmdit.h"
#include "layers/architectures/resnet.h"
#include "layers/architectures/unet/controlnet.h"
#include "layers/architectures/unet/controlnet_union.h"
#include "layers/architectures/unet/pixel_unet.h"
#include "layers/architectures/unet/unet.h"
#include "layers/architectures/unet/unet_condition.h"
#include "layers/architectures/unet/vae_kl.h"
#include "layers/architectures/unet/video_unet.h"
#include "layers/architectures/uvit.h"
#include "layers/architectures/vit.h"
