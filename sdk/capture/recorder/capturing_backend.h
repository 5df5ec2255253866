#pragma once

#include <memory>

#include "sdk/backend/backend.h"
#include "sdk/capture/recorder/call_recorder.h"

namespace frugal {

class Context;

// A backend that shows a sink each call of a kernel in a training step, and has another one do the
// work. Answers about scratch, fusion, layouts and names are the other's, so plans and bits are
// too. Packing a weight is not shown: what it makes is the backend's own. Threads: as the other.
class CapturingBackend final : public Backend {
 public:
  // The sink must outlive it.
  CapturingBackend(std::unique_ptr<Backend> inner, CallSink& sink);
  ~CapturingBackend() override;

  // Says in what context steps run, which must outlive the next step; null: nothing is shown.
  void SetContext(const Context* context) { recorder_.SetContext(context); }

  std::string_view name() const override { return inner_->name(); }
  bool Supports(DType dtype) const override { return inner_->Supports(dtype); }
  DType ProductType(DType dtype) const override { return inner_->ProductType(dtype); }
  ProductKernels& product() override;
  ConvKernels& conv() override;
  PoolKernels& pool() override;
  NormKernels& norm() override;
  ElementwiseKernels& elementwise() override;
  LossKernels& loss() override;
  OptimizerKernels& optimizer() override;
  AdaptiveKernels& adaptive() override;
  ArrayKernels& array() override;
  ResampleKernels& resample() override;
  SequenceKernels& sequence() override;
  AttentionKernels& attention() override;
  ModulationKernels& modulation() override;

 private:
  struct Families;

  std::unique_ptr<Backend> inner_;
  CallRecorder recorder_;
  std::unique_ptr<Families> families_;
};

}  // namespace frugal
