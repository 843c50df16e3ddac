// SPDX-License-Identifier: BSL-1.0
// All the kernels, for those who want the whole folder in one include. Holds no code.
#pragma once

#include <umbel/kernel/additive.hpp>
#include <umbel/kernel/attend.hpp>
#include <umbel/kernel/attend_form.hpp>
#include <umbel/kernel/elementwise.hpp>
#include <umbel/kernel/linear.hpp>
#include <umbel/kernel/norm.hpp>
#include <umbel/kernel/plain.hpp>
#include <umbel/kernel/plain_attend.hpp>
#include <umbel/kernel/scores.hpp>
#include <umbel/kernel/shapes.hpp>
#include <umbel/kernel/tap.hpp>
#include <umbel/kernel/transpose.hpp>
