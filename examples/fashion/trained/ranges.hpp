// SPDX-License-Identifier: BSL-1.0
// Written by examples/fashion/calibrate.cpp: do not edit. The largest magnitudes of the tensors of the
// clothing classifier on 500 training pictures.
#pragma once

namespace fashion::trained {

inline constexpr auto set_ranges = [](auto& seen) {
  seen.embed.input() = 0.498039216F;
  seen.embed.output() = 21.9944324F;
  seen.positions.residual() = 21.9944324F;
  seen.encoder[0].residual() = 21.9944324F;
  seen.encoder[0].attention.input() = 2.29393125F;
  seen.encoder[0].attention.q() = 4.59632587F;
  seen.encoder[0].attention.k() = 3.86539149F;
  seen.encoder[0].attention.v() = 2.77959681F;
  seen.encoder[0].feed_forward.input() = 4.88089991F;
  seen.encoder[0].feed_forward.up() = 7.78803349F;
  seen.encoder[0].feed_forward.activated() = 7.26276112F;
  seen.encoder[1].residual() = 21.9944324F;
  seen.encoder[1].attention.input() = 3.11741304F;
  seen.encoder[1].attention.q() = 4.75284672F;
  seen.encoder[1].attention.k() = 4.36288977F;
  seen.encoder[1].attention.v() = 4.64941406F;
  seen.encoder[1].feed_forward.input() = 3.50152922F;
  seen.encoder[1].feed_forward.up() = 8.95479679F;
  seen.encoder[1].feed_forward.activated() = 5.81896496F;
  seen.norm.input() = 21.9944324F;
  seen.norm.output() = 4.51769209F;
  seen.norm.epsilon() = 9.99999975e-06F;
  seen.mean.input() = 4.51769209F;
  seen.mean.output() = 2.20369148F;
  seen.head.input() = 2.20369148F;
  seen.head.output() = 6.59526539F;
};

}  // namespace fashion::trained
