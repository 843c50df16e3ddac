// SPDX-License-Identifier: BSL-1.0
// The classifier (network.cpp) for JavaScript. There is no way to ask it anything before it is loaded.
'use strict';

const layerCount = 2, headCount = 4, side = 28, patchSide = 7, patchCount = 49, classCount = 10;
const everyHead = 15; // of a layer, as bits

// Test pictures, as tools/demo page packs them: a line of JSON, then 28 x 28 pixels each. Or a Problem.
function picturesOf(packed) {
  const bytes = unpack(packed), end = bytes.indexOf(10);
  return {...JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), pixels: bytes.subarray(end + 1)};
}

class Network {
  // Of a round of `time`: one takes a fraction of a millisecond, and the clock of a browser has steps of 0.1 ms.
  static passes = 24;

  #exports;
  constructor(exports) { this.#exports = exports; }
  static async load(packed) { return new Network(await loadModule(packed)); }

  // pixels: 28 x 28 of 0 to 255. kept: the heads of both layers, as bits. Of each head that is kept, `maps[layer][head]` is
  // (query, key), a map of 49 x 49; of the others null.
  look(pixels, kept) {
    const {memory, ...wasm} = this.#exports;
    const floats = (address, count) => new Float32Array(memory.buffer, address, count).slice();
    new Uint8Array(memory.buffer, wasm.pixels(), side * side).set(pixels);
    if (!wasm.look(kept[0], kept[1])) throw new RangeError(`no choice of heads: ${kept}`);

    const logits = floats(wasm.logits(), classCount);
    const maps = kept.map((bits, layer) => {
      let place = layer * headCount;
      return Array.from({length: headCount}, (_, head) => bits >> head & 1
        ? floats(wasm.maps() + 4 * patchCount * patchCount * place++, patchCount * patchCount) : null);
    });
    return {logits, probabilities: softmax(logits), maps};
  }

  // Microseconds of a pass of the last picture through these heads: the least mean of a few rounds, in not much more time than
  // a frame of the screen has. Times (times.js) asks until they are no shorter.
  time(kept) {
    let least = Infinity, spent = 0;
    for (let round = 0; round < 4 && spent < 8; ++round) {
      const begin = performance.now();
      for (let i = 0; i < Network.passes; ++i) this.#exports.look(kept[0], kept[1]);
      const took = performance.now() - begin;
      spent += took;
      least = Math.min(least, took);
    }
    return least * 1000 / Network.passes;
  }
}

// The larger, the more a picture is like those that the model learned from: the logarithm of the sum of their exponentials.
function logOfSum(logits) {
  const largest = Math.max(...logits);
  return largest + Math.log(logits.reduce((sum, x) => sum + Math.exp(x - largest), 0));
}

function softmax(logits) {
  const largest = Math.max(...logits);
  const powers = Array.from(logits, x => Math.exp(x - largest));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map(x => x / sum);
}
