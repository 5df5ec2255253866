#pragma once

#include "builders/frugal.h"

namespace frugal {

// Plain stacks of the sizes of diffusion models, from the layers that are there. peer.py has the
// same.

// DiT (Peebles & Xie, arXiv:2212.09748) of 12 blocks without its modulation: images [32, 32, 4] in
// patches of 2 x 2, to as many patches of 16 numbers.
inline LayerList::Fill PlainDit(std::int64_t width, std::int64_t heads) {
  const LayerNormOptions norm{.epsilon = 1e-6, .affine = false};
  return [=](LayerList& layers) {
    layers.Conv2d({.filters = width, .kernel = {2}, .stride = {2}}).ToSequence();
    layers.LearnedPositions({.positions = 256});
    for (int i = 0; i < 12; ++i) {
      layers.Residual({},
                      [=](LayerList& body) { body.LayerNorm(norm).Attention({.heads = heads}); });
      layers.Residual({}, [=](LayerList& body) {
        body.LayerNorm(norm);
        body.Dense({.units = 4 * width, .activation = Activation::kGeluTanh});
        body.Dense({.units = width});
      });
    }
    layers.LayerNorm(norm).Dense({.units = 16});
  };
}

inline void AppendConv(LayerList& layers, std::int64_t filters, std::int64_t stride = 1) {
  layers.Conv2d({.filters = filters, .kernel = {3}, .stride = {stride}, .padding = {1}});
}

inline void AppendResidualBlock(LayerList& layers, std::int64_t before, std::int64_t after) {
  const auto body = [=](LayerList& list) {
    list.GroupNorm({.groups = 32}).Activation(Activation::kSilu);
    AppendConv(list, after);
    list.GroupNorm({.groups = 32}).Activation(Activation::kSilu);
    AppendConv(list, after);
  };
  LayerList::Fill shortcut;
  if (before != after) {
    shortcut = [=](LayerList& list) { list.Conv2d({.filters = after, .kernel = {1}}); };
  }
  layers.Residual({}, body, shortcut);
}

// The residual blocks of a U-Net as DDPM's (Ho et al., arXiv:2006.11239) in their order, for images
// [32, 32, 3]: without its skips, attention and time.
inline void PlainUNet(LayerList& layers) {
  AppendConv(layers, 64);
  const auto blocks = [&](int count, std::int64_t before, std::int64_t after) {
    for (int i = 0; i < count; ++i) AppendResidualBlock(layers, i == 0 ? before : after, after);
  };
  blocks(2, 64, 64);
  AppendConv(layers, 64, 2);
  blocks(2, 64, 128);
  AppendConv(layers, 128, 2);
  blocks(2 + 2 + 3, 128, 128);
  layers.Upsample();
  AppendConv(layers, 128);
  blocks(3, 128, 128);
  layers.Upsample();
  AppendConv(layers, 128);
  blocks(3, 128, 64);
  layers.GroupNorm({.groups = 32}).Activation(Activation::kSilu);
  AppendConv(layers, 3);
}

}  // namespace frugal
