// SPDX-License-Identifier: BSL-1.0
// What the tests in Node and in a browser share.
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const readText = path => readFileSync(root + path, 'utf8');

// test/embedded/bits.hpp: of targets that do not fuse a product and a sum.
export function goldenBits(what) {
  const line = readText('test/embedded/bits.hpp').split('\n').find(text => text.includes(`{"${what}"`));
  return line.match(/0x([0-9a-f]+)\}/)[1];
}

// How many f32x4.mul there are in a module: the bytes of the instruction.
export const multiplications = module => module.toString('latin1').split('\xfd\xe6\x01').length - 1;

// In a page or in Node, which have Network and picturesOf: 32-bit FNV-1a over the logits of the committed pictures, all of them or
// each `step`-th, for each choice of heads, as text.
export const hashInPage = (choices, step = 1) => `(async () => {
  const network = await Network.load(networkModule), {labels, pixels: samples} = picturesOf(packedPictures);
  let sum = 0x811c9dc5;
  for (const kept of ${JSON.stringify(choices)}) {
    for (let i = 0; i < labels.length; i += ${step}) {
      const {logits} = network.look(samples.subarray(784 * i, 784 * (i + 1)), kept);
      for (const byte of new Uint8Array(logits.buffer)) sum = Math.imul(sum ^ byte, 0x01000193);
    }
  }
  return (sum >>> 0).toString(16).padStart(8, '0');
})()`;

// The page with one file changed, change(text), or without it where that is null: its address, and how to be rid of it.
export function damagedCopy(page, name, change) {
  const folder = mkdtempSync(join(tmpdir(), 'umbel-page-damaged-')), file = join(folder, name);
  cpSync(page, folder, {recursive: true});
  const text = change(readFileSync(file, 'utf8'));
  if (text === null) rmSync(file);
  else writeFileSync(file, text);
  return {url: pathToFileURL(join(folder, 'index.html')).href, remove: () => rmSync(folder, {recursive: true})};
}
