// SPDX-License-Identifier: BSL-1.0
// logits.mjs PAGE: the classifier of the page in Node, bit for bit.
import {readFileSync} from 'node:fs';
import {runInThisContext} from 'node:vm';
import {check, finish, same} from './tap.mjs';
import {goldenBits, hashInPage, multiplications, readText} from './support.mjs';

const page = process.argv[2];
for (const script of ['problem.js', 'module.js', 'network.js', 'pictures.js', 'accuracy.js', 'network.wasm.js'])
  runInThisContext(readFileSync(`${page}/${script}`, 'utf8'), {filename: script});
const {Network, loadModule, networkModule, packedPictures, picturesOf, accuracy, bytesOf} =
  runInThisContext('({Network, loadModule, networkModule, packedPictures, picturesOf, accuracy, bytesOf})');

// ---- the module ---------------------------------------------------------------------------------
const file = readFileSync(`${page}/network.wasm`);
check('the module is smaller than 150 kB, weights included', file.length < 150000, file.length);
same('network.wasm.js has the bytes of network.wasm', Buffer.compare(file, bytesOf(networkModule.base64)), 0);
const module = new WebAssembly.Module(file);
same('it needs nothing of anybody', WebAssembly.Module.imports(module), []);
same('it exports the memory and four functions, none of which has to come first',
  WebAssembly.Module.exports(module).map(({name}) => name).sort(), ['logits', 'look', 'maps', 'memory', 'pixels']);
check('it multiplies vectors of four floats', multiplications(file) > 100, multiplications(file));

// ---- bits ---------------------------------------------------------------------------------------
const every = [15, 15];
same('logits of all committed pictures: the bits of the library', await runInThisContext(hashInPage([every])),
  goldenBits('clothing: logits'));
// Of `page_native bits`, built by g++ without a fused multiply-add.
const choices = Array.from({length: 225}, (_, i) => [Math.floor(i / 15) + 1, i % 15 + 1]);
same('each choice of heads: the bits of the native build', await runInThisContext(hashInPage(choices, 5)), 'b4cef232');

// ---- answers ------------------------------------------------------------------------------------
const network = await Network.load(networkModule), {labels, pixels: samples} = picturesOf(packedPictures);
const seen = labels.map((_, i) => network.look(samples.subarray(784 * i, 784 * (i + 1)), every));
const largest = numbers => numbers.indexOf(Math.max(...numbers));
const torch = readText('examples/fashion/trained/samples.hpp').match(/logits\[20\]\[10\] = \{(.*?)\};/s)[1]
  .match(/\{[^{}]*\}/g).map(row => row.match(/-?[\d.]+(e-?\d+)?/g).map(Number));
same('PyTorch’s answer to all of them', seen.map(({logits}) => largest([...logits])), torch.map(largest));
same('of which 19 are right', seen.filter(({logits}, i) => largest([...logits]) === labels[i]).length, 19);
check('shares of the classes sum to 1', seen.every(({probabilities}) => Math.abs(probabilities.reduce((a, b) => a + b) - 1) < 1e-6));

// ---- maps ---------------------------------------------------------------------------------------
const rows = seen.flatMap(({maps}) => maps.flat().flatMap(map =>
  Array.from({length: 49}, (_, query) => map.subarray(49 * query, 49 * (query + 1)).reduce((a, b) => a + b))));
check('each row of all maps sums to 1', rows.length === 20 * 8 * 49 && rows.every(sum => Math.abs(sum - 1) < 1e-5));
const picture = samples.subarray(0, 784), all = network.look(picture, every), some = network.look(picture, [0b1010, 15]);
same('of heads that are off there is no map', some.maps[0].map(map => map === null), [true, false, true, false]);
check('those of the first layer do not depend on other heads, and are in their own place',
  [1, 3].every(head => some.maps[0][head].every((share, i) => share === all.maps[0][head][i])));
check('and what is behind does', some.maps[1][0].some((share, i) => share !== all.maps[1][0][i]));
const black = network.look(new Uint8Array(784), every), white = network.look(new Uint8Array(784).fill(255), every);
check('black and white pictures have answers, too', [...black.logits, ...white.logits].every(Number.isFinite));

// ---- what it refuses ----------------------------------------------------------------------------
const wasm = await loadModule(networkModule);
for (const kept of [[0, 15], [15, 0], [16, 15], [15, -1]])
  same(`look(${kept}) is refused, and computes nothing`,
    [wasm.look(...kept), ...new Float32Array(wasm.memory.buffer, wasm.logits(), 10)], Array(11).fill(0));
const problemOf = async packed => loadModule(packed).then(() => 'no problem', error => `${error.constructor.name}: ${error.message}`);
const flipped = networkModule.base64.replace(/^(.{50000})(.)/, (_, front, letter) => front + (letter === 'A' ? 'B' : 'A'));
check('one other character in the file is a problem',
  (await problemOf({...networkModule, base64: flipped})).startsWith('Problem: network.wasm.js is damaged'));
check('so is a part of it', (await problemOf({...networkModule, base64: networkModule.base64.slice(0, 1000)})).startsWith('Problem: '));
check('and what is no base64', (await problemOf({...networkModule, base64: '?'})).startsWith('Problem: '));

const picturesProblem = at => {
  const other = packedPictures.base64[at] === 'A' ? 'B' : 'A';
  try {
    return picturesOf({...packedPictures, base64: packedPictures.base64.slice(0, at) + other + packedPictures.base64.slice(at + 1)}).names.join();
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
};
for (const at of [3, 100, packedPictures.base64.length >> 1, packedPictures.base64.length - 5]) // names, labels, pixels
  check(`another character of the pictures, at ${at}, is a problem`,
    picturesProblem(at).startsWith('Problem: pictures.js is damaged'), picturesProblem(at));

// ---- the committed figures ----------------------------------------------------------------------
check('accuracy.js: a figure for each choice of heads', accuracy.pictures === 10000 && accuracy.right.length === 15 &&
  accuracy.right.every(row => row.length === 15 && row.every(right => right > 1000 && right < 10000)));
same('with all heads, that of the demo: 9,045 right', accuracy.right[14][14], 9045);

finish();
