// SPDX-License-Identifier: BSL-1.0
// text.mjs PAGE: the language model's tab in a headless Chromium, used as people use it, at two widths.
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser, readPng} from './browser.mjs';
import {check, finish, same} from './tap.mjs';
import {damagedCopy} from './support.mjs';

const page = resolve(process.argv[2]);
const url = pathToFileURL(`${page}/index.html`).href;
const browser = await Browser.start();
const written = () => browser.evaluate(`document.getElementById('written').textContent`);
const opened = () => browser.until(`!document.getElementById('go').disabled`);
// The range of temperatures, moved by its keys.
async function setTemperature(value) {
  await browser.evaluate(`{
    const range = document.getElementById('temperature');
    range.value = ${value};
    range.dispatchEvent(new Event('input'));
  }`);
}
async function setPrompt(text) {
  await browser.evaluate(`{
    const field = document.getElementById('prompt');
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event('change'));
  }`);
}

async function usedAt(width) {
  const at = `at a width of ${width}: `;
  await browser.open(url, {width});
  check(`${at}nothing of it is loaded before its tab is opened`, await browser.until(`document.getElementById('answer').textContent !== ''`) &&
    await browser.evaluate(`typeof languageModule === 'undefined'`));
  await browser.evaluate(`document.getElementById('tab-heads').focus()`);
  await browser.press('ArrowRight');
  check(`${at}an arrow key opens its tab`, await opened() &&
    await browser.evaluate(`!document.getElementById('text').hidden && document.getElementById('heads').hidden`));
  same(`${at}the prompt is read`, [await written(), await browser.text('#read-count')], ['In the beginning ', '17 of 256']);

  await setTemperature(0);
  same(`${at}the temperature is said`, await browser.text('#temperature-says'), '0');
  await browser.click('#go');
  same(`${at}the button now stops`, await browser.text('#go'), 'Stop');
  check(`${at}it writes`, await browser.until(`document.getElementById('written').textContent.length >= 62`));
  await browser.click('#go');
  const text = await written();
  check(`${at}at temperature 0 it writes PyTorch’s text`, text.startsWith('In the beginning of the LORD thy God will I say unto the LORD.'), text);
  await new Promise(done => setTimeout(done, 150));
  same(`${at}stopped, it writes no more`, await written(), text);
  check(`${at}the time of a character is said`, parseFloat(await browser.text('#text-time')) > 1);
  check(`${at}nothing is wider than the window`, await browser.evaluate('document.documentElement.scrollWidth') <= width);

  // How much is written before it stops depends on the machine: what follows looks at the maps of these 62 characters.
  await setPrompt(text.slice(0, 62));

  // What a character attends to, as the page says it and as the model does.
  await browser.hover('h1');
  if (width < 600) await browser.tap('#written span:nth-child(30)');
  else await browser.hover('#written span:nth-child(30)');
  const says = await browser.evaluate(`(async () => {
    const model = await LanguageModel.load(languageModule, languageWeights);
    const letters = [...document.getElementById('written').textContent].slice(0, 30);
    const row = letters.map(letter => model.read(alphabet.indexOf(letter))).pop()[4][0], most = largestOf(row);
    return 'Block 5, head 1: character 30, “' + letters[29] + '”, attends most to character ' + (most + 1) + ', “' + letters[most] + '”, ' +
      percent(row[most]) + '.';
  })()`);
  same(`${at}a character that is ${width < 600 ? 'tapped' : 'pointed at'} says what it attends to`, await browser.text('#chosen-head'), says);
  await browser.evaluate(`document.getElementById('written').focus()`);
  await browser.press('ArrowLeft');
  check(`${at}an arrow key goes to the one before`, (await browser.text('#chosen-head')).includes('character 29,'));
  await browser.click('#blocks .block:nth-of-type(2) button:nth-child(3)');
  check(`${at}a click on a map chooses its head`, (await browser.text('#chosen-head')).startsWith('Block 2, head 3: character '));
  same(`${at}one map is chosen`, await browser.evaluate(`document.querySelectorAll('#blocks [aria-pressed=true]').length`), 1);

  // Key points: above the diagonal a map is black, on it or near it something is looked at.
  const {x, y} = await browser.place('#blocks .block:nth-of-type(5) button:nth-child(1) canvas', 0.8, 0.2);
  same(`${at}the future is black`, readPng(await browser.screenshot()).at(Math.round(x), Math.round(y)), [0, 0, 0]);
  check(`${at}below the diagonal all 40 maps have some light`, await browser.evaluate(`[...document.querySelectorAll('#blocks canvas')].every(canvas =>
    canvas.getContext('2d').getImageData(0, 128, 128, 128).data.some((level, i) => i % 4 === 0 && level > 100)) &&
    document.querySelectorAll('#blocks canvas').length === 40`));
  same(`${at}the bars are five, the first the longest`, await browser.evaluate(`(() => {
    const widths = [...document.querySelectorAll('#next i')].map(bar => parseFloat(bar.style.width));
    return [widths.length, widths[0] === Math.max(...widths)];
  })()`), [5, true]);

  // What it cannot read.
  await setPrompt('naïve');
  check(`${at}a character that it does not know is said`, (await browser.text('#text-problem')).startsWith('“ï” is not among'));
  await setPrompt('');
  check(`${at}an empty prompt is said`, (await browser.text('#text-problem')).startsWith('The text to begin with is empty'));
  await browser.click('#go');
  same(`${at}and nothing is written then`, await browser.text('#go'), 'Write');
  await setPrompt('A'.repeat(255));
  same(`${at}another prompt takes its place`, [(await written()).length, await browser.evaluate(`document.getElementById('text-problem').hidden`)], [255, true]);
  await browser.click('#go');
  check(`${at}when the context is full, the last half is read again`, await browser.until(`/^1[2-9]\\d of 256$/.test(document.getElementById('read-count').textContent)`));
  await browser.click('#again');
  same(`${at}started again, the prompt is alone`, (await written()).length, 255);
  same(`${at}no script has failed`, browser.complaints, []);
}

async function badInput() {
  for (const [file, change, words] of [
    ['language.weights.js', text => text.replace(/.{8}"\};/, 'AAAAAAAA"};'), 'language.weights.js is damaged'],
    ['language.wasm.js', () => null, 'language.wasm.js is missing or damaged']]) {
    const copy = damagedCopy(page, file, change);
    await browser.open(copy.url, {width: 390});
    await browser.click('#tab-text');
    await browser.until(`!document.getElementById('text-problem').hidden`);
    const said = await browser.text('#text-problem');
    check(`that ${file} cannot be used is said in its tab`, said.includes(words), said);
    check('and the other tab goes on', await browser.evaluate(`document.getElementById('answer').textContent !== ''`));
    copy.remove();
  }
}

try {
  await usedAt(1280);
  await usedAt(390);
  await badInput();
} catch (error) {
  check(`the test goes on to its end: ${error.message}`, false);
}
await browser.close();
finish();
