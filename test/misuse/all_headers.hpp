// SPDX-License-Identifier: BSL-1.0
// preamble.hpp with the headers that umbel.hpp does not include, and what they work on. It includes
// all of them itself: each header between a user's file and umbel.hpp is a line before the message.
#ifndef UMBEL_MISUSE_ALL_HEADERS
#define UMBEL_MISUSE_ALL_HEADERS

#include <umbel/umbel.hpp>

#include <umbel/file/mapped_file.hpp>
#include <umbel/file/read_file.hpp>
#include <umbel/files.hpp>
#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/footprint.hpp>
#include <umbel/inspect/heat_map.hpp>
#include <umbel/inspect/vector_check.hpp>
#include <umbel/quantized.hpp>
#include <umbel/training.hpp>
#include <umbel/weights.hpp>

#if __has_include(<mpi.h>)
#include <umbel/mpi.hpp>
#endif

#include <misuse/preamble.hpp>

#include <functional>
#include <string>
#include <string_view>

using head = linear<float, hidden<64>, classes<10>, bias<true>>;

inline self_attention::weights sg;
inline const head::weights hw{};
inline const tensor<float, batch<2>, classes<10>> logits{};
inline const tensor<float, batch<2>, vocabulary<50>> words{};

#if __has_include(<mpi.h>)
using share = sharded<self_attention, over<heads, ranks<2>>>;
#endif

// An opened file, as a function that is given one sees it.
extern const tensor_file& opened;

#endif
