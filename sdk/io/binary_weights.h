#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sdk/io/weight_source.h"
#include "sdk/io/weight_writer.h"

namespace frugal {

// Our binary form: what a program without a JSON parser can read. Little endian, nothing aligned:
//
//   8 bytes  the letters FRUGALWT
//   u32      version, 1
//   u32      number of metadata pairs
//     per pair:    u32 length, the key; u32 length, its text (UTF-8)
//   u64      number of tensors
//     per tensor:  u32 length, the name (UTF-8)
//                  u8  dtype: 0 BOOL, 1 U8, 2 I8, 3 I16, 4 U16, 5 F16, 6 BF16, 7 I32, 8 U32, 9 F32,
//                      10 F64, 11 I64, 12 U64
//                  u8  rank, at most 8
//                  i64 per dimension, outermost first
//                  u64 bytes of its data
//   the data of every tensor, row-major, in the order of the list, up to the end of the file

// The first eight bytes, by which the form is known.
inline constexpr std::string_view kBinaryWeightsMagic = "FRUGALWT";

// Opens and checks the file. Throws WeightFileError for another magic or version, a list that runs
// past the end of the file, an unknown dtype, a rank above 8, a negative or too large extent, a
// byte count that disagrees with the shape, a repeated name, data that are cut short, and bytes
// behind the last tensor.
std::unique_ptr<WeightSource> OpenBinaryWeights(const std::string& path);

// Bytes of a file of these tensors without metadata.
std::int64_t BinaryBytes(const std::vector<StoredTensor>& tensors);

// Begins a file; the tensors lie in the order given.
std::unique_ptr<WeightWriter> CreateBinaryWeights(const std::string& path,
                                                  std::vector<StoredTensor> tensors,
                                                  const WeightMetadata& metadata = {});

}  // namespace frugal
