// SPDX-License-Identifier: BSL-1.0
// What training needs besides the layers: first weights, losses, optimisers, the rate as a function
// of the step. umbel.hpp does not include it.
#pragma once

#include <umbel/training/initialise.hpp>
#include <umbel/training/loss.hpp>
#include <umbel/training/optimiser.hpp>
#include <umbel/training/schedule.hpp>
