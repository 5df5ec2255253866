#include "sdk/capture/recorder/capturing_backend.h"

#include <utility>

#include "sdk/capture/recorder/adaptive_capture.h"
#include "sdk/capture/recorder/array_capture.h"
#include "sdk/capture/recorder/attention_capture.h"
#include "sdk/capture/recorder/conv_capture.h"
#include "sdk/capture/recorder/elementwise_capture.h"
#include "sdk/capture/recorder/loss_capture.h"
#include "sdk/capture/recorder/modulation_capture.h"
#include "sdk/capture/recorder/norm_capture.h"
#include "sdk/capture/recorder/optimizer_capture.h"
#include "sdk/capture/recorder/pool_capture.h"
#include "sdk/capture/recorder/product_capture.h"
#include "sdk/capture/recorder/resample_capture.h"
#include "sdk/capture/recorder/sequence_capture.h"

namespace frugal {

struct CapturingBackend::Families {
  Families(Backend& b, CallRecorder& r)
      : product(b.product(), r),
        conv(b.conv(), r),
        pool(b.pool(), r),
        norm(b.norm(), r),
        elementwise(b.elementwise(), r),
        loss(b.loss(), r),
        optimizer(b.optimizer(), r),
        adaptive(b.adaptive(), r),
        array(b.array(), r),
        resample(b.resample(), r),
        sequence(b.sequence(), r),
        attention(b.attention(), r),
        modulation(b.modulation(), r) {}

  CapturingProductKernels product;
  CapturingConvKernels conv;
  CapturingPoolKernels pool;
  CapturingNormKernels norm;
  CapturingElementwiseKernels elementwise;
  CapturingLossKernels loss;
  CapturingOptimizerKernels optimizer;
  CapturingAdaptiveKernels adaptive;
  CapturingArrayKernels array;
  CapturingResampleKernels resample;
  CapturingSequenceKernels sequence;
  CapturingAttentionKernels attention;
  CapturingModulationKernels modulation;
};

CapturingBackend::CapturingBackend(std::unique_ptr<Backend> inner, CallSink& sink)
    : inner_(std::move(inner)),
      recorder_(*inner_, sink),
      families_(std::make_unique<Families>(*inner_, recorder_)) {}

CapturingBackend::~CapturingBackend() = default;

ProductKernels& CapturingBackend::product() { return families_->product; }
ConvKernels& CapturingBackend::conv() { return families_->conv; }
PoolKernels& CapturingBackend::pool() { return families_->pool; }
NormKernels& CapturingBackend::norm() { return families_->norm; }
ElementwiseKernels& CapturingBackend::elementwise() { return families_->elementwise; }
LossKernels& CapturingBackend::loss() { return families_->loss; }
OptimizerKernels& CapturingBackend::optimizer() { return families_->optimizer; }
AdaptiveKernels& CapturingBackend::adaptive() { return families_->adaptive; }
ArrayKernels& CapturingBackend::array() { return families_->array; }
ResampleKernels& CapturingBackend::resample() { return families_->resample; }
SequenceKernels& CapturingBackend::sequence() { return families_->sequence; }
AttentionKernels& CapturingBackend::attention() { return families_->attention; }
ModulationKernels& CapturingBackend::modulation() { return families_->modulation; }

}  // namespace frugal
