// SPDX-License-Identifier: BSL-1.0
// language.mjs PAGE: the language model of the page in Node, bit for bit.
import {readFileSync} from 'node:fs';
import {runInThisContext} from 'node:vm';
import {check, finish, same} from './tap.mjs';
import {multiplications} from './support.mjs';

const page = process.argv[2];
for (const script of ['problem.js', 'module.js', 'network.js', 'language.js', 'language.wasm.js', 'language.weights.js'])
  runInThisContext(readFileSync(`${page}/${script}`, 'utf8'), {filename: script});
const {LanguageModel, loadModule, languageModule, languageWeights, unpack, alphabet} =
  runInThisContext('({LanguageModel, loadModule, languageModule, languageWeights, unpack, alphabet})');

// ---- the module ---------------------------------------------------------------------------------
const file = readFileSync(`${page}/language.wasm`);
check('the module is smaller than 150 kB, without the weights', file.length < 150000, file.length);
same('it needs nothing of anybody', WebAssembly.Module.imports(new WebAssembly.Module(file)), []);
check('it multiplies vectors of four floats', multiplications(file) > 100, multiplications(file));

// ---- bits ---------------------------------------------------------------------------------------
// The text that PyTorch writes, always the most likely character, is in the file of weights.
const weights = Buffer.from(unpack(languageWeights)), headerSize = Number(weights.readBigUInt64LE());
const greedy = JSON.parse(weights.toString('utf8', 8, 8 + headerSize))['probe.greedy'];
const at = i => 8 + headerSize + greedy.data_offsets[0] + i * (greedy.data_offsets[1] - greedy.data_offsets[0]) / 256;
const text = Array.from({length: 256}, (_, i) => weights[at(i)]);

const model = await LanguageModel.load(languageModule, languageWeights);
const prompt = 'In the beginning '.length;
let sum = 0x811c9dc5, drawn = 0;
const rows = text.map((token, i) => {
  const seen = model.read(token), {logits} = model;
  for (const byte of new Uint8Array(logits.buffer)) sum = Math.imul(sum ^ byte, 0x01000193);
  if (i + 1 >= prompt && i + 1 < 256) drawn += model.draw(0) === text[i + 1];
  return seen;
});
same('the most likely characters are PyTorch’s, to the end of the context', drawn, 256 - prompt);
// Of `page_native text examples/tiny_language_model/trained/weights.safetensors`, built without a fused multiply-add.
same('logits of 256 steps: the bits of the whole stack in the native build', (sum >>> 0).toString(16), '2aefeeda');
check('each row of all maps sums to 1, over what is read so far', rows.every((blocks, i) => blocks.length === 5 && blocks.every(heads =>
  heads.length === 8 && heads.every(row => row.length === i + 1 && Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5))));

// ---- what it refuses ----------------------------------------------------------------------------
const refused = call => { try { call(); return false; } catch (error) { return error instanceof RangeError; } };
check('a 257th character is refused', refused(() => model.read(0)));
model.forget();
check('so is a token that there is not', refused(() => model.read(alphabet.length)));
const again = text.slice(0, 20).map(token => model.read(token));
same('after forgetting, the same text has the same maps', again, rows.slice(0, 20));
model.forget();
const some = seed => {
  model.forget();
  model.seed(seed);
  model.read(text[0]);
  return Array.from({length: 20}, () => { const token = model.draw(1); model.read(token); return token; });
};
const [first, second, third] = [some(7), some(7), some(8)];
check('a seed gives one text, another seed another', `${first}` === `${second}` && `${first}` !== `${third}`);

const wasm = await loadModule(languageModule);
same('before the weights are loaded, nothing is read or drawn', [wasm.read(1), wasm.draw(0)], [0, 0]);
const place = new Uint8Array(wasm.memory.buffer, wasm.file(), weights.length);
for (const [what, where] of [['header', 20], ['numbers', 300000]]) {
  place.set(weights);
  place[where] ^= 1;
  same(`weights with another bit in the ${what} are refused`, [wasm.load(weights.length), wasm.read(1)], [0, 0]);
}
place.set(weights);
same('weights that are cut off are refused', [wasm.load(weights.length - 1), wasm.load(0), wasm.load(-1), wasm.read(1)], [0, 0, 0, 0]);
same('and whole they are taken', [wasm.load(weights.length), wasm.draw(0), wasm.read(1)], [1, 0, 1]);

finish();
