// SPDX-License-Identifier: BSL-1.0
// Shares of 0 to 1 as colours. As in the library's heat maps (umbel/inspect/heat_map.hpp): support points of matplotlib's
// "inferno" (CC0), whose lightness rises evenly, so that it reads without colours, too.
'use strict';

const colourPoints = [
  [0, 0, 4], [31, 12, 72], [85, 15, 109], [136, 34, 106], [186, 54, 85], [227, 89, 51], [249, 140, 10], [249, 201, 50],
  [252, 255, 164]];

function colourOf(share) {
  const last = colourPoints.length - 1;
  const place = (share > 0 ? Math.min(share, 1) : 0) * last;
  const low = Math.min(Math.floor(place), last - 1);
  return colourPoints[low].map((from, i) => Math.round(from + (place - low) * (colourPoints[low + 1][i] - from)));
}

// What lies over a picture: the larger the share, the more of this colour.
const overlayColour = [255, 176, 32];
