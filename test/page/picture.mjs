// SPDX-License-Identifier: BSL-1.0
// picture.mjs PAGE PNG: what the page looks like (tools/demo page --picture).
import {writeFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [page, file] = process.argv.slice(2);
const browser = await Browser.start();
await browser.open(pathToFileURL(`${page}/index.html`).href, {width: 1180, height: 910, scale: 0.8});
await browser.until(`document.getElementById('answer').textContent`);
await browser.click('.heads .head:nth-child(2) .to', 0.5, 0.7);
await new Promise(done => setTimeout(done, 4000)); // until the browser has compiled the module well
await browser.hover('h1');
await browser.evaluate('scrollTo(0, 0)');
writeFileSync(file, await browser.screenshot());
await browser.close();
