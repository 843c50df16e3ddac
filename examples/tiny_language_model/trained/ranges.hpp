// SPDX-License-Identifier: BSL-1.0
// Written by examples/tiny_language_model/calibrate.cpp: do not edit. The largest magnitudes of
// the tensors of the language model on 200 pieces of its training text.
#pragma once

namespace tiny::integer::trained {

inline constexpr auto set_ranges = [](auto& seen) {
  seen.embedding.residual() = 51.3377571F;
  seen.blocks.layers[0].residual() = 51.3377571F;
  seen.blocks.layers[0].attention.input() = 2.65677047F;
  seen.blocks.layers[0].attention.q() = 7.7817421F;
  seen.blocks.layers[0].attention.k() = 8.72531796F;
  seen.blocks.layers[0].attention.v() = 1.73587358F;
  seen.blocks.layers[0].feed_forward.input() = 2.88596702F;
  seen.blocks.layers[0].feed_forward.gate() = 5.27245569F;
  seen.blocks.layers[0].feed_forward.up() = 4.73708534F;
  seen.blocks.layers[0].feed_forward.activated() = 5.24554062F;
  seen.blocks.layers[0].feed_forward.product() = 24.4638729F;
  seen.blocks.layers[1].residual() = 51.3377571F;
  seen.blocks.layers[1].attention.input() = 4.39397907F;
  seen.blocks.layers[1].attention.q() = 10.9094992F;
  seen.blocks.layers[1].attention.k() = 16.9184952F;
  seen.blocks.layers[1].attention.v() = 5.73485374F;
  seen.blocks.layers[1].feed_forward.input() = 3.91592956F;
  seen.blocks.layers[1].feed_forward.gate() = 6.5592041F;
  seen.blocks.layers[1].feed_forward.up() = 5.42396021F;
  seen.blocks.layers[1].feed_forward.activated() = 5.58804083F;
  seen.blocks.layers[1].feed_forward.product() = 17.9497814F;
  seen.blocks.layers[2].residual() = 51.3377571F;
  seen.blocks.layers[2].attention.input() = 4.82855558F;
  seen.blocks.layers[2].attention.q() = 11.8973875F;
  seen.blocks.layers[2].attention.k() = 14.3544359F;
  seen.blocks.layers[2].attention.v() = 4.79015779F;
  seen.blocks.layers[2].feed_forward.input() = 3.79478836F;
  seen.blocks.layers[2].feed_forward.gate() = 7.40443325F;
  seen.blocks.layers[2].feed_forward.up() = 5.90870714F;
  seen.blocks.layers[2].feed_forward.activated() = 5.65182257F;
  seen.blocks.layers[2].feed_forward.product() = 23.3227997F;
  seen.blocks.layers[3].residual() = 51.3377571F;
  seen.blocks.layers[3].attention.input() = 4.27891731F;
  seen.blocks.layers[3].attention.q() = 11.6970549F;
  seen.blocks.layers[3].attention.k() = 16.9044781F;
  seen.blocks.layers[3].attention.v() = 7.33162451F;
  seen.blocks.layers[3].feed_forward.input() = 4.19379902F;
  seen.blocks.layers[3].feed_forward.gate() = 8.77687645F;
  seen.blocks.layers[3].feed_forward.up() = 8.02123547F;
  seen.blocks.layers[3].feed_forward.activated() = 5.69958973F;
  seen.blocks.layers[3].feed_forward.product() = 25.5010128F;
  seen.blocks.layers[4].residual() = 51.3377571F;
  seen.blocks.layers[4].attention.input() = 5.4320612F;
  seen.blocks.layers[4].attention.q() = 13.9321289F;
  seen.blocks.layers[4].attention.k() = 17.7476749F;
  seen.blocks.layers[4].attention.v() = 6.49381304F;
  seen.blocks.layers[4].feed_forward.input() = 4.83821106F;
  seen.blocks.layers[4].feed_forward.gate() = 11.2189302F;
  seen.blocks.layers[4].feed_forward.up() = 8.74146938F;
  seen.blocks.layers[4].feed_forward.activated() = 9.14702702F;
  seen.blocks.layers[4].feed_forward.product() = 55.2961807F;
  seen.norm.input() = 51.3377571F;
  seen.norm.output() = 5.83054972F;
  seen.norm.epsilon() = 9.99999975e-06F;
  seen.output.input() = 5.83054972F;
  seen.output.output() = 15.3088818F;
};

}  // namespace tiny::integer::trained
