#include "sdk/backend/onednn/simd/amx/amx_tiles.h"

namespace frugal::simd {

AmxSession::AmxSession() : control_(_mm_getcsr()) {
  constexpr unsigned int kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
  // Not on the stack: g++ 12 takes the instruction to read only the first 8 bytes.
  static constexpr TileConfiguration kConfiguration;
  _tile_loadconfig(&kConfiguration);
  _mm_setcsr(control_ | kFlushToZero | kDenormalsAreZero);
}

AmxSession::~AmxSession() {
  _mm_setcsr(control_);
  _tile_release();
}

void MultiplyMatrices(const AmxProduct& p) {
  Fence();
  for (std::int64_t r = 0; r < p.rows; r += kAmxBlock) {
    for (std::int64_t c = 0; c < p.columns; c += kAmxBlock) {
      MultiplyBlock(p, p.a + r * p.a_row, kAmxBlock, p.b + 2 * c, p.c + r * p.c_row + c,
                    [](std::int64_t) {});
    }
  }
}

}  // namespace frugal::simd
