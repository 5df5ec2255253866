#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/io/weights/weight_source.h"
#include "sdk/io/weights/weight_writer.h"
#include "sdk/io/weights/weights_file_format.h"

namespace frugal {

// Opens a weight file. kAuto goes by the content, never by the name. Throws WeightFileError for a
// file that is missing, empty, unreadable, damaged, of no known form (naming some well-known other
// kinds), or of another form than the one asked for.
std::unique_ptr<WeightSource> OpenWeights(const std::string& path,
                                          WeightsFileFormat format = WeightsFileFormat::kAuto);

// The form that a file of this name is written in: JSON for .json, our binary form for .bin, and
// safetensors for all other names. Throws FileError for the extension of a form that others write
// and we do not (.pt, .npz, .h5, ...): a file under it would not be what it says.
WeightsFileFormat FormatToWrite(const std::string& path);

// Bytes of a file of these tensors, as CreateWeights writes it: exactly, but for JSON at most,
// where the digits of a number depend on its value.
std::int64_t WeightsFileBytes(WeightsFileFormat format, const std::vector<StoredTensor>& tensors,
                              const WeightMetadata& metadata = {});

// Begins a weight file; kAuto writes safetensors.
std::unique_ptr<WeightWriter> CreateWeights(const std::string& path, WeightsFileFormat format,
                                            std::vector<StoredTensor> tensors,
                                            const WeightMetadata& metadata = {});

}  // namespace frugal
