// SPDX-License-Identifier: BSL-1.0
// Layers and gradients divided among the processes of an MPI job (docs/machines.md): heads,
// sequences or chains of gradients over ranks, with the bits of one machine. Only this includes
// <mpi.h>.
#pragma once

// clang-format off: the order counts, see bare.hpp.
#include <umbel/shape/verdict.hpp>

#include <umbel/bare.hpp>

#include <umbel/training/axes.hpp>
#include <umbel/training/arithmetic.hpp>
#include <umbel/training/optimiser.hpp>
#include <umbel/training/batch_gradient.hpp>

#include <umbel/mpi/axes.hpp>
#include <umbel/mpi/rules.hpp>
#include <umbel/mpi/communicator.hpp>
#include <umbel/mpi/heads.hpp>
#include <umbel/mpi/batch.hpp>
#include <umbel/mpi/cache.hpp>
#include <umbel/mpi/cut_weights.hpp>
#include <umbel/mpi/parts.hpp>
#include <umbel/mpi/residual_block.hpp>
#include <umbel/mpi/gradients.hpp>
#include <umbel/mpi/exchange.hpp>
#include <umbel/mpi/describe.hpp>
// clang-format on
