// SPDX-License-Identifier: BSL-1.0
// The tab of shapes: what the rules (shapes.hpp) say of what was typed in.
'use strict';

const longestName = 23, mostAxes = 8, largestSize = 2 ** 32 - 1;
const operations = ['', 'split', 'merge', 'permute'];

// "batch=2, key=6" as [{name, size}]; a Problem where it is not that.
function parseShape(text) {
  const axes = text.split(',').map(part => {
    const found = part.trim().match(/^([A-Za-z_]\w*)\s*=\s*(\d+)$/);
    if (!found) throw new Problem(`“${part.trim()}” is not an axis with a size, as in batch=2.`);
    return {name: found[1], size: Number(found[2])};
  });
  return inLimits(axes, 'A shape');
}

// "split<hidden, heads<7>, head_dim>" as {operation, given: [{name, size}]}, of which some have no size.
function parseOperation(text) {
  if (text.trim() === '') return {operation: 0, given: []};
  const found = text.trim().match(/^(\w+)\s*<(.*)>$/), operation = found ? operations.indexOf(found[1]) : -1;
  if (operation < 1) throw new Problem('The operation is not split<...>, merge<...> or permute<...>.');
  const given = found[2].split(',').map((part, i) => {
    const axis = part.trim().match(/^([A-Za-z_]\w*)\s*(?:<\s*(\d+)\s*>)?$/);
    if (!axis) throw new Problem(`“${part.trim()}” is not an axis.`);
    const wantsSize = operation === 1 && i === 1;
    if (wantsSize !== (axis[2] !== undefined))
      throw new Problem(wantsSize ? `The second axis of split has a size, as in ${axis[1]}<5>.` : `${axis[1]} stands there without a size.`);
    return {name: axis[1], size: Number(axis[2] ?? 0)};
  });
  if (operation === 1 && given.length !== 3) throw new Problem('split takes three axes: split<hidden, heads<5>, head_dim>.');
  return {operation, given: inLimits(given, 'An operation')};
}

function inLimits(axes, what) {
  if (axes.length > mostAxes) throw new Problem(`${what} has at most ${mostAxes} axes here.`);
  for (const {name, size} of axes) {
    if (name.length > longestName) throw new Problem(`A name has at most ${longestName} letters here.`);
    if (size > largestSize) throw new Problem(`A size is at most ${largestSize} here.`);
  }
  return axes;
}

class Rules {
  #exports;
  constructor(exports) { this.#exports = exports; }
  static async load(packed) { return new Rules(await loadModule(packed)); }

  // {fits, says}: a shape, or a sentence.
  ask(shape, {operation, given}) {
    const wasm = this.#exports, bytes = new Uint8Array(wasm.memory.buffer), stride = longestName + 1;
    const sizes = new Uint32Array(wasm.memory.buffer, wasm.sizes(), 2 * mostAxes);
    const put = (axes, first) => axes.forEach(({name, size}, i) => {
      const at = wasm.names() + (first + i) * stride;
      bytes.fill(0, at, at + stride);
      bytes.set(new TextEncoder().encode(name), at);
      sizes[first + i] = size;
    });
    put(shape, 0);
    put(given, mostAxes);
    const fits = wasm.check(operation, shape.length, given.length);
    if (fits < 0) throw new RangeError('no such operation');
    const end = bytes.indexOf(0, wasm.text());
    return {fits: fits === 1, says: new TextDecoder().decode(bytes.subarray(wasm.text(), end))};
  }
}

const shapeExamples = [
  ['fits', 'batch=2, key=6, hidden=100', 'split<hidden, heads<5>, head_dim>'],
  ['a remainder', 'batch=2, key=6, hidden=100', 'split<hidden, heads<7>, head_dim>'],
  ['a name that is taken', 'batch=2, key=6, hidden=100', 'split<hidden, key<5>, head_dim>'],
  ['no such axis', 'batch=2, key=6, hidden=100', 'merge<batch, query, token>'],
  ['not neighbours', 'batch=2, key=6, hidden=100', 'merge<batch, hidden, token>'],
  ['merged', 'batch=2, key=6, hidden=100', 'merge<batch, key, token>'],
  ['an axis forgotten', 'batch=2, key=6, hidden=100', 'permute<hidden, batch>'],
  ['named twice', 'row=28, column=28, row=3', ''],
];

class ShapesPage {
  #rules;
  constructor(rules) {
    this.#rules = rules;
    for (const id of ['shape', 'operation']) $(id).addEventListener('input', () => this.#ask());
    $('ask').addEventListener('submit', event => event.preventDefault());
    for (const [name, shape, operation] of shapeExamples) {
      const button = element('button', {type: 'button'}, name);
      button.addEventListener('click', () => {
        [$('shape').value, $('operation').value] = [shape, operation];
        this.#ask();
      });
      $('examples').append(button);
    }
    this.#ask();
  }
  #ask() {
    const verdict = $('verdict');
    try {
      const {fits, says} = this.#rules.ask(parseShape($('shape').value), parseOperation($('operation').value));
      verdict.textContent = says;
      verdict.className = fits ? 'verdict fits' : 'verdict refused';
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      verdict.textContent = problem.message;
      verdict.className = 'verdict';
    }
  }
}
