// SPDX-License-Identifier: BSL-1.0
// shapes.mjs PAGE: the tab of shapes in a headless Chromium, at two widths.
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser, readPng} from './browser.mjs';
import {damagedCopy, readText} from './support.mjs';
import {check, finish, same} from './tap.mjs';

const page = resolve(process.argv[2]);
const url = pathToFileURL(`${page}/index.html`).href;
const browser = await Browser.start();

// What the page says to a shape and an operation that are typed in.
async function ask(shape, operation) {
  await browser.evaluate(`{
    for (const [id, text] of [['shape', ${JSON.stringify(shape)}], ['operation', ${JSON.stringify(operation)}]]) {
      document.getElementById(id).value = text;
      document.getElementById(id).dispatchEvent(new Event('input'));
    }
  }`);
  return browser.text('#verdict');
}

async function usedAt(width) {
  const at = `at a width of ${width}: `;
  await browser.open(url, {width});
  await browser.click('#tab-shapes');
  check(`${at}it opens with a sentence`, await browser.until(`document.getElementById('verdict').textContent !== ''`));
  const readme = readText('README.md').match(/^ {4}(umbel: split: .*)$/m)[1];
  same(`${at}which is the one of the README`, await browser.text('#verdict'), readme);
  same(`${at}a split that fits gives the shape`, await ask('batch=2, key=6, hidden=100', 'split<hidden, heads<5>, head_dim>'),
    '[batch=2, key=6, heads=5, head_dim=20]');
  same(`${at}axes have any name`, await ask('row=28, column=28', 'split<row, patch_row<7>, pixel>'), '[patch_row=7, pixel=4, column=28]');
  same(`${at}merge`, await ask('batch=2, key=6', 'merge<batch, key, token>'), '[token=12]');
  same(`${at}permute`, await ask('batch=2, key=6, hidden=4', 'permute<hidden, batch, key>'), '[hidden=4, batch=2, key=6]');
  same(`${at}an axis that is not there`, await ask('batch=2, key=6', 'merge<batch, query, token>'),
    'umbel: merge: there is no axis query in [batch=2, key=6]');
  same(`${at}no positions`, await ask('batch=0', ''), 'umbel: shape: batch=0 has size 0 in [batch=0]');
  same(`${at}more elements than there can be`, await ask('batch=4000000000, key=4000000000', ''),
    'umbel: shape: [batch=4000000000, key=4000000000] has more elements than memory can hold');
  for (const [shape, operation, words] of [
    ['', '', '“” is not an axis with a size'], ['batch=-2', '', '“batch=-2” is not'], ['batch=2', 'turn<batch>', 'The operation is not'],
    ['batch=2', 'split<batch>', 'split takes three axes'], ['batch=2', 'split<batch, heads, x>', 'has a size, as in heads<5>'],
    ['batch=99999999999', '', 'A size is at most'], ['a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1', '', 'has at most 8 axes'],
    ['abcdefghijklmnopqrstuvwxyz=1', '', 'has at most 23 letters'], ['batch=2', 'permute<<>', '“<” is not an axis'],
    ['batch=2', 'permute<batch<2>>', 'batch stands there without a size']])
    check(`${at}“${shape}”, “${operation}” is said to be wrong`, (await ask(shape, operation)).includes(words), await browser.text('#verdict'));
  await browser.click('#examples button:nth-child(2)');
  same(`${at}an example is asked by a click`, await browser.text('#verdict'), readme);
  const {x, y} = await browser.place('#verdict', 0, 0.5);
  same(`${at}its mark has the colour of what is refused`, readPng(await browser.screenshot()).at(Math.round(x) + 2, Math.round(y)), [0xc2, 0x41, 0x0c]);
  check(`${at}nothing is wider than the window`, await browser.evaluate('document.documentElement.scrollWidth') <= width);
  same(`${at}no script has failed`, browser.complaints, []);
}

try {
  await usedAt(1280);
  await usedAt(390);
  const copy = damagedCopy(page, 'shapes.wasm.js', text => text.replace(/.{8}"\};/, 'AAAAAAAA"};'));
  await browser.open(copy.url, {width: 390});
  await browser.click('#tab-shapes');
  check('that its module is damaged is said', await browser.until(`document.getElementById('shapes-problem').textContent.includes('is damaged')`));
  copy.remove();
} catch (error) {
  check(`the test goes on to its end: ${error.message}`, false);
}
await browser.close();
finish();
