#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>

#include "sdk/backend/onednn/gemm/gemm.h"

namespace frugal {

// OpenBLAS's product, where Debian's libopenblas0-openmp or another build of it is installed.
class OpenBlas {
 public:
  OpenBlas() {
    for (const char* const name :
         {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0"}) {
      void* const library = dlopen(name, RTLD_NOW);
      if (library == nullptr) continue;
      sgemm_ = reinterpret_cast<Sgemm*>(dlsym(library, "cblas_sgemm"));
      if (sgemm_ != nullptr) return;
    }
  }

  bool exists() const { return sgemm_ != nullptr; }

  void Multiply(const onednn::Gemm& gemm, float* c) const {
    const auto order = [](char transposed) { return transposed == 'T' ? 112 : 111; };
    const auto size = [](std::int64_t extent) { return static_cast<int>(extent); };
    constexpr int kRowMajor = 101;
    sgemm_(kRowMajor, order(gemm.transpose_a), order(gemm.transpose_b), size(gemm.m), size(gemm.n),
           size(gemm.k), 1.0f, gemm.a, size(gemm.stride_a), gemm.b, size(gemm.stride_b), 0.0f, c,
           size(gemm.n));
  }

 private:
  using Sgemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                     const float* a, int stride_a, const float* b, int stride_b, float beta,
                     float* c, int stride_c);

  Sgemm* sgemm_ = nullptr;
};

}  // namespace frugal
