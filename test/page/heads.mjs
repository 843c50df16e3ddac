// SPDX-License-Identifier: BSL-1.0
// heads.mjs PAGE: the classifier's tab in a headless Chromium, used as people use it, at two widths.
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser, readPng} from './browser.mjs';
import {damagedCopy, goldenBits, hashInPage} from './support.mjs';
import {check, finish, same} from './tap.mjs';

const page = resolve(process.argv[2]);
const url = pathToFileURL(`${page}/index.html`).href;
const browser = await Browser.start();
const open = (size, at = url) => browser.open(at, size);
const ready = () => browser.until(`document.getElementById('answer').textContent !== ''`);

// What the page says, and a text of each canvas.
const bars = () => browser.evaluate(`[...document.querySelectorAll('#classes tr')].map(row => row.textContent)`);
const drawn = selector => browser.evaluate(`[...document.querySelectorAll('${selector}')].map(canvas => canvas.toDataURL())`);
const differ = (before, after) => before.filter((text, i) => text !== after[i]).length;
const pixelsOfPad = () => browser.evaluate(
  `[...document.getElementById('pad').getContext('2d').getImageData(0, 0, 560, 560).data].filter((_, i) =>
    i % 4 === 0 && (i / 4 | 0) % 20 === 10 && (i / 4 / 560 | 0) % 20 === 10)`);
const head = (layer, i) => `.heads:nth-of-type(${layer + 1}) .head:nth-child(${i + 1})`;

async function usedAt(width, height) {
  const at = `at a width of ${width}: `;
  await open({width, height});
  check(`${at}it opens from a disk and answers`, await ready(), await browser.text('#problem'));
  check(`${at}nothing is wider than the window`, await browser.evaluate('document.documentElement.scrollWidth') <= width);
  same(`${at}the logits of all committed pictures have the bits of the library`,
    await browser.evaluate(hashInPage([[15, 15]])), goldenBits('clothing: logits'));

  // The strip of maps, in a narrow window.
  const lowest = await browser.evaluate(`Math.max(...[...document.querySelectorAll('#pad, #answer, #clear, .tile')].map(one =>
    one.getBoundingClientRect().bottom))`);
  const tiles = await browser.evaluate(`[...document.querySelectorAll('.tile')].filter(tile => tile.offsetParent).length`);
  if (width < 600) check(`${at}pad, answer and the maps of all heads are on one screen`, tiles === 8 && lowest <= height, tiles, lowest);
  else same(`${at}the maps are not there twice`, tiles, 0);

  // Pictures.
  check(`${at}there are 20 pictures, and eight heads of two layers`,
    await browser.evaluate(`document.querySelectorAll('#samples button').length === 20 &&
      document.querySelectorAll('.heads').length === 2 && document.querySelectorAll('.head').length === 8`));
  same(`${at}none of them is unlike the others`, await browser.evaluate(`[...document.querySelectorAll('#samples button')].map(button => {
    button.click();
    return document.getElementById('hint').textContent;
  }).filter(Boolean)`), []);
  await browser.click('#samples button:nth-child(19)');
  let before = {bars: await bars(), maps: await drawn('.map'), to: await drawn('.to'), from: await drawn('.from')};
  await browser.click('#samples button:nth-child(3)');
  check(`${at}a picked picture is a trouser`, (await browser.text('#answer')).startsWith('trouser, '), await browser.text('#answer'));
  same(`${at}and its bar stands out`, await browser.text('#classes .first th'), 'trouser');
  check(`${at}all maps and overlays are new`, differ(before.maps, await drawn('.map')) === 8 &&
    differ(before.to, await drawn('.to')) === 8 && differ(before.from, await drawn('.from')) === 8);
  const picture = await browser.evaluate(`[...picturesOf(packedPictures).pixels.subarray(784 * 2, 784 * 3)]`);
  same(`${at}the pad shows it`, await pixelsOfPad(), picture);

  // Drawing.
  await browser.click('#clear');
  same(`${at}cleared, the pad is black`, (await pixelsOfPad()).some(Boolean), false);
  check(`${at}and the page says that it is empty`, (await browser.text('#hint')).startsWith('The pad is empty'), await browser.text('#hint'));
  before = {bars: await bars(), maps: await drawn('.map'), tiles: await drawn('.tile canvas')};
  await browser.drag('#pad', [0.3, 0.2], [0.3, 0.8]);
  const stroke = await pixelsOfPad();
  check(`${at}a stroke is where it was drawn`, stroke[14 * 28 + 8] === 255 && stroke[14 * 28 + 20] === 0 && stroke[28 + 8] === 0);
  check(`${at}after it the classes and all maps are others`,
    differ(before.bars, await bars()) > 3 && differ(before.maps, await drawn('.map')) === 8);
  check(`${at}so are the small maps`, differ(before.tiles, await drawn('.tile canvas')) === 8);
  check(`${at}a line is not like clothes`, (await browser.text('#hint')).startsWith('Unlike the clothes'), await browser.text('#hint'));
  await browser.click('#erase');
  await browser.drag('#pad', [0.3, 0.2], [0.3, 0.8]);
  same(`${at}the same stroke erases it`, (await pixelsOfPad()).some(Boolean), false);
  await browser.click('#erase');

  // The keyboard.
  await browser.evaluate(`document.getElementById('pad').focus()`);
  await browser.press('ArrowRight');
  await browser.press('ArrowUp');
  await browser.press(' ');
  await browser.evaluate(`document.getElementById('pad').blur()`);
  check(`${at}arrow keys and space paint`, (await pixelsOfPad())[13 * 28 + 15] === 255);
  await browser.evaluate(`document.getElementById('pad').focus()`);
  await browser.press('Backspace');
  await browser.evaluate(`document.getElementById('pad').blur()`);
  same(`${at}backspace erases`, (await pixelsOfPad())[13 * 28 + 15], 0);

  // Patches.
  await browser.click('#samples button:nth-child(19)');
  const to = `${head(0, 1)} .to`;
  before = {to: await drawn('.to'), from: await drawn('.from')};
  if (width < 600) await browser.tap(to, 3.5 / 7, 2.5 / 7);
  else await browser.hover(to, 3.5 / 7, 2.5 / 7);
  check(`${at}a patch is ${width < 600 ? 'tapped' : 'pointed at'}`,
    await browser.until(`document.getElementById('patch').textContent.startsWith('Patch 17, row 3, column 4')`));
  check(`${at}what it attends to and who attends to it is drawn for every head`,
    differ(before.to, await drawn('.to')) === 8 && differ(before.from, await drawn('.from')) === 8);
  const [saysTo, saysFrom] = await browser.evaluate(`(async () => {
    const network = await Network.load(networkModule), {pixels: samples} = picturesOf(packedPictures);
    const map = network.look(samples.subarray(784 * 18, 784 * 19), [15, 15]).maps[0][1];
    const most = shares => shares.indexOf(Math.max(...shares)), key = most([...map.subarray(17 * 49, 18 * 49)]);
    const column = [...map].filter((_, i) => i % 49 === 17), query = most(column);
    const percent = share => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + ' %';
    return ['→ ' + key + ': ' + percent(map[17 * 49 + key]), '← ' + query + ': ' + percent(column[query])];
  })()`);
  same(`${at}and said, in the numbers of its map`,
    [await browser.text(`${head(0, 1)} .says-to`), await browser.text(`${head(0, 1)} .says-from`)], [saysTo, saysFrom]);
  await browser.hover('h1');
  await browser.evaluate(`document.querySelector(${JSON.stringify(to)}).focus()`);
  await browser.press('Escape');
  check(`${at}Escape lets it go`, (await browser.text('#patch')).startsWith('The mean of all'), await browser.text('#patch'));
  await browser.press('ArrowDown');
  check(`${at}an arrow key takes the one below the middle`, (await browser.text('#patch')).startsWith('Patch 31,'), await browser.text('#patch'));
  await browser.press('Escape');

  // Heads.
  before = {bars: await bars(), accuracy: await browser.text('#share-right'), maps: await drawn('.map')};
  await browser.click(`${head(1, 2)} input`);
  same(`${at}a head that is off is not counted`, await browser.text('#kept'), '4 + 3');
  same(`${at}the share of right pictures is that of accuracy.js`, await browser.text('#share-right'),
    await browser.evaluate(`(accuracy.right[14][0b1011 - 1] / 100).toFixed(2) + ' %'`));
  const after = await drawn('.map');
  check(`${at}the other maps are as they were, its own is empty`, differ(before.maps, after) === 1 && after[6] !== before.maps[6]);
  check(`${at}the classes are others`, differ(before.bars, await bars()) > 0);
  same(`${at}the native time is that of so many heads`, await browser.text('#time-native'),
    await browser.evaluate('microseconds(native.microseconds[3][2])'));
  await browser.click(`${head(1, 0)} input`);
  await browser.click(`${head(1, 1)} input`);
  same(`${at}the last head of a layer cannot be switched off`,
    await browser.evaluate(`document.querySelector('${head(1, 3)} input').disabled`), true);
  await browser.click('#choices tbody tr:nth-child(3) button');
  same(`${at}a row of the table switches its heads`, await browser.text('#kept'), '2 + 2');
  check(`${at}every choice has its time`, await browser.until(`[...document.querySelectorAll('#choices tbody tr')].every(row =>
    parseFloat(row.cells[2].textContent) > 1 && parseFloat(row.cells[3].textContent) > 1)`));
  const [most, least] = await browser.evaluate(`[0, 3].map(i => parseFloat(document.querySelectorAll('#choices tbody tr')[i].cells[2].textContent))`);
  check(`${at}one head takes less time than four`, least < most, least, most);
  await browser.click('#choices tbody tr:nth-child(1) button');
  same(`${at}all heads again, and all is as before`,
    [await bars(), await browser.text('#share-right'), await drawn('.map')], [before.bars, before.accuracy, before.maps]);

  // Key points of what is seen.
  await browser.evaluate('scrollTo(0, 0)');
  const spot = async (selector, x, y) => {
    const {x: left, y: top} = await browser.place(selector, x, y);
    return readPng(await browser.screenshot()).at(Math.round(left), Math.round(top));
  };
  const boot = await browser.evaluate(`picturesOf(packedPictures).pixels[784 * 18 + 18 * 28 + 14]`);
  const grey = await spot('#pad', 14.5 / 28, 18.5 / 28);
  check(`${at}the pad has the greys of the picture`, boot > 0 && grey.every(level => Math.abs(level - boot) <= 2), grey, boot);
  same(`${at}the longest bar has its colour`, await spot('#classes .first i', 0.5, 0.5), [0xc2, 0x41, 0x0c]);
  same(`${at}the background has its own`, await spot('footer', 0.9, 0.9), [0xf6, 0xf6, 0xf4]);
  const map = await browser.evaluate(`(async () => {
    const network = await Network.load(networkModule);
    const {maps} = network.look(picturesOf(packedPictures).pixels.subarray(784 * 18, 784 * 19), [15, 15]);
    const most = Math.max(...maps.flat().map(map => Math.max(...map)));
    return colourOf(Math.sqrt(maps[1][1][24 * 49 + 19] / most));
  })()`);
  const seen = await spot(`${head(1, 1)} .map`, 19.5 / 49, 24.5 / 49);
  check(`${at}a point of a map has the colour of its share`, map.every((level, i) => Math.abs(level - seen[i]) <= 3), seen, map);
  same(`${at}no script has failed`, browser.complaints, []);
}

// A choice of heads whose first visits are slow, as those of a module that isn't compiled well yet.
async function timed() {
  const known = await browser.evaluate(`{
    const later = [], slow = [1169, 1169, 600, 310], told = [];
    const times = new Times(() => slow.shift() ?? 50, () => told.push(times.of([1, 1])), visit => later.push(visit));
    times.measure([1, 1]);
    const known = [];
    while (later.length > 0) {
      later.shift()();
      known.push(times.of([1, 1]));
    }
    [known, told];
  }`);
  same('a time is told once, when it is no longer shorter', [known[0].filter(time => time !== null), known[1]], [[50], [50]]);
}

const problem = async () => {
  await browser.until(`!document.getElementById('problem').hidden`);
  const [text, rest] = await browser.evaluate(`[document.getElementById('problem').innerText,
    getComputedStyle(document.getElementById('heads')).display]`);
  return rest === 'none' ? text : `${text} (and the rest of the page is shown)`;
};

async function damaged(name, change) {
  const copy = damagedCopy(page, name, change);
  await open({width: 390}, copy.url);
  const said = await problem();
  copy.remove();
  return said;
}

async function badInput() {
  const says = (what, said, words) => check(`${what} is said in the page`, said.includes(words), said);
  await open({width: 390, before: 'delete globalThis.WebAssembly'});
  says('that there is no WebAssembly', await problem(), 'This browser has no WebAssembly');
  await open({width: 390, before: 'WebAssembly.validate = () => false'});
  says('that there are no vectors', await problem(), 'has no vectors of 16 bytes (SIMD)');
  says('that a module is damaged', await damaged('network.wasm.js', text => text.replace(/.{8}"\};/, 'AAAAAAAA"};')),
    'network.wasm.js is damaged');
  says('that a module is cut off', await damaged('network.wasm.js', text => text.slice(0, 99999)),
    'network.wasm.js is missing or damaged');
  says('that the pictures are damaged', await damaged('pictures.js', text => text.replace(/.{8}"\};/, 'AAAAAAAA"};')),
    'pictures.js is damaged');
  says('that a file is missing', await damaged('pictures.js', () => null), 'pictures.js is missing or damaged');
}

async function served() {
  const types = {html: 'text/html', js: 'text/javascript', css: 'text/css'};
  const server = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    try {
      const body = readFileSync(join(page, name));
      response.writeHead(200, {'content-type': types[name.split('.').pop()] ?? 'application/octet-stream'}).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await new Promise(done => server.once('listening', done));
  await open({width: 1280}, `http://127.0.0.1:${server.address().port}/`);
  check('it runs from a static server, too', await ready());
  server.closeAllConnections();
  server.close();
}

try {
  await usedAt(1280, 900);
  await usedAt(390, 844);
  await timed();
  await badInput();
  await served();
} catch (error) {
  check(`the test goes on to its end: ${error.message}`, false);
}
await browser.close();
finish();
