// SPDX-License-Identifier: BSL-1.0
// The language model (language.hpp) for JavaScript. There is no way to ask it anything before it is loaded.
'use strict';

const blockCount = 5, blockHeads = 8, textContext = 256;
const alphabet = "\n !'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

class LanguageModel {
  #exports;
  #read = 0;
  spent = 0; // ms, in all
  constructor(exports) { this.#exports = exports; }

  static async load(packed, weights) {
    const exports = await loadModule(packed);
    const bytes = unpack(weights);
    if (bytes.length > exports.file_room()) throw new RangeError('the weights are more than there is room for');
    new Uint8Array(exports.memory.buffer, exports.file(), bytes.length).set(bytes);
    if (!exports.load(bytes.length)) throw new Problem(`${weights.name}.js has no weights of this model.`);
    return new LanguageModel(exports);
  }

  // How many tokens it has read.
  get size() { return this.#read; }
  forget() {
    this.#exports.forget();
    this.#read = 0;
  }
  seed(number) { this.#exports.seed(number); }

  // Reads one more token. What all heads of all blocks attend to then: [block][head], a share for each token so far.
  read(token) {
    const wasm = this.#exports;
    if (!this.#timed(() => wasm.read(token))) throw new RangeError(`token ${token} is not read`);
    ++this.#read;
    const row = i => new Float32Array(wasm.memory.buffer, wasm.rows() + 4 * textContext * i, this.#read).slice();
    return Array.from({length: blockCount}, (_, block) => Array.from({length: blockHeads}, (_, head) => row(block * blockHeads + head)));
  }
  get logits() { return new Float32Array(this.#exports.memory.buffer, this.#exports.logits(), alphabet.length).slice(); }
  draw(temperature) { return this.#timed(() => this.#exports.draw(temperature)); }

  #timed(call) {
    const begin = performance.now(), result = call();
    this.spent += performance.now() - begin;
    return result;
  }
}
