// SPDX-License-Identifier: BSL-1.0
// EXPORTED("name"): a function that the page's JavaScript calls. Elsewhere it is any function.
#pragma once

#if defined(__wasm__)
#define EXPORTED(name) __attribute__((export_name(name)))
#else
#define EXPORTED(name)
#endif
