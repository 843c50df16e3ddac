// SPDX-License-Identifier: BSL-1.0
// picture.mjs PAGE PNG: what the page looks like (tools/demo page --picture).
import {writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [page, file] = process.argv.slice(2);
const browser = await Browser.start();

// Opens the page: how long a pass takes there, for each row of the table.
const measured = async () => {
  await browser.open(pathToFileURL(`${page}/index.html`).href, {width: 1180, height: 950, scale: 0.8});
  const rows = `[...document.querySelectorAll('#choices tbody tr')].map(row => parseFloat(row.cells[2].textContent))`;
  if (!await browser.until(`${rows}.length === 4 && !${rows}.some(isNaN)`)) throw new Error('the page has no times');
  return browser.evaluate(rows);
};
// All figures of the page are in the picture. Those of the native program are as old as the page, which was built just now; those of
// the browser are measured twice. Other programs make them longer, so the picture is taken only if both are the same.
const first = await measured(), second = await measured();
if (first.some((time, i) => Math.abs(time / second[i] - 1) > 0.05))
  throw new Error(`the times of a pass differ too much (${first}; ${second}); try again when less runs beside it`);
await browser.click('.heads .head:nth-child(2) .to', 0.5, 0.7);
await browser.hover('h1');
await browser.evaluate('scrollTo(0, 0)');
writeFileSync(file, await browser.screenshot());
await browser.close();
