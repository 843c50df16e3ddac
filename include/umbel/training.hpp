// SPDX-License-Identifier: BSL-1.0
// Learning: gradients of formulas and of the layers in them, initial weights, losses, optimizers,
// learning rate schedules (docs/learning.md). Not included by umbel.hpp: inference doesn't change.
#pragma once

// clang-format off: the order counts, see bare.hpp.
#include <umbel/shape/verdict.hpp>

#include <umbel/bare.hpp>

#include <umbel/training/axes.hpp>
#include <umbel/training/gradient.hpp>
#include <umbel/training/importance.hpp>
#include <umbel/training/initialize.hpp>
#include <umbel/training/loss.hpp>
#include <umbel/training/arithmetic.hpp>
#include <umbel/training/optimiser.hpp>
#include <umbel/training/batch_gradient.hpp>
#include <umbel/training/recompute.hpp>
#include <umbel/training/schedule.hpp>
// clang-format on
