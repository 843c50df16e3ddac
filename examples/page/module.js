// SPDX-License-Identifier: BSL-1.0
// WebAssembly from a .js file: a page that was opened from a disk may not fetch anything, but it may have scripts.
'use strict';

// A function that gives a vector of 16 bytes.
const vectorProbe = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// 32-bit FNV-1a.
function checksumOf(bytes) {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}

// packed: {name, size, checksum, base64}, as tools/demo page writes it. Its bytes, or a Problem.
function unpack(packed) {
  let bytes;
  try {
    bytes = bytesOf(packed.base64);
  } catch {
    bytes = new Uint8Array();
  }
  if (bytes.length !== packed.size || checksumOf(bytes) !== packed.checksum)
    throw new Problem(`${packed.name}.js is damaged: its bytes are not those that were built. Build the page again with “tools/demo page”.`);
  return bytes;
}

// The exports of a module, or a Problem.
async function loadModule(packed) {
  if (typeof WebAssembly !== 'object')
    throw new Problem('This browser has no WebAssembly, or it is switched off, and this page computes in it. Any browser since 2021 has it.');
  if (!WebAssembly.validate(vectorProbe))
    throw new Problem('This browser’s WebAssembly has no vectors of 16 bytes (SIMD), which this page computes with. Any browser since 2023 has them.');
  return (await WebAssembly.instantiate(unpack(packed), {})).instance.exports;
}

// Scripts of the page that only one tab needs.
function loadScript(file) {
  return new Promise(done => {
    const script = document.createElement('script');
    script.src = file;
    script.onload = script.onerror = () => done(); // what it did not define is found out by `need`
    document.body.append(script);
  });
}
