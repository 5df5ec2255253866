#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/gemm/gemm.h"

namespace frugal {

// OpenBLAS's product, where Debian's libopenblas0-openmp or another build of it is installed. It
// goes by the processor's model, and takes one that it does not know for a Prescott, without AVX;
// it is told to take a model with the same instructions then, so that it is as fast as it can be.
class OpenBlas {
 public:
  OpenBlas() {
    for (const char* const name :
         {"/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0", "libopenblas.so.0"}) {
      if (!Load(name)) continue;
      if (const char* const model = ModelToTake()) {
        dlclose(library_);
        setenv("OPENBLAS_CORETYPE", model, 0);
        Load(name);
      }
      return;
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
  using CoreName = const char*();
  using Sgemm = void(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                     const float* a, int stride_a, const float* b, int stride_b, float beta,
                     float* c, int stride_c);

  bool Load(const char* name) {
    library_ = dlopen(name, RTLD_NOW);
    sgemm_ = library_ != nullptr ? Find<Sgemm>("cblas_sgemm") : nullptr;
    return sgemm_ != nullptr;
  }

  template <typename Function>
  Function* Find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }

  // Returns null where it knows the processor.
  const char* ModelToTake() const {
    CoreName* const core_name = Find<CoreName>("openblas_get_corename");
    if (core_name == nullptr || core_name() != std::string_view("Prescott")) return nullptr;
    switch (simd::BestInstructionSet()) {
      case simd::InstructionSet::kAvx512:
        return "SkylakeX";
      case simd::InstructionSet::kAvx2:
        return "Haswell";
      case simd::InstructionSet::kBaseline:
        return nullptr;
    }
    return nullptr;
  }

  void* library_ = nullptr;
  Sgemm* sgemm_ = nullptr;
};

}  // namespace frugal
