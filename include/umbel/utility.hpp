// SPDX-License-Identifier: BSL-1.0
// std::index_sequence and std::tuple_size without the rest of <utility> and <concepts>, which would
// be 7 % of the time to include Umbel. bits/utility.h is that part of libstdc++ since GCC 12.
#pragma once

#if __has_include(<bits/utility.h>)
#include <bits/utility.h>
#else
#include <utility>
#endif
