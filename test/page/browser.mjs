// SPDX-License-Identifier: BSL-1.0
// A headless Chromium, driven by its DevTools protocol: messages of JSON, each ended by a zero byte, through a pipe.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {inflateSync} from 'node:zlib';

export class Browser {
  #process;
  #folder = mkdtempSync(join(tmpdir(), 'umbel-page-'));
  #number = 0;
  #waiting = new Map(); // of an answer: number -> {done, failed}
  #rest = '';
  #session;
  complaints = []; // what the page wrote to its console as an error

  static async start(program = 'chromium') {
    const browser = new Browser();
    const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    browser.#process = spawn(program, ['--headless=new', ...root, '--disable-gpu', '--remote-debugging-pipe', '--no-first-run',
      '--disable-dev-shm-usage', '--hide-scrollbars', '--force-color-profile=srgb', `--user-data-dir=${browser.#folder}`],
      {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    browser.#process.on('exit', () => browser.#giveUp(new Error('the browser has ended')));
    browser.#process.on('error', error => browser.#giveUp(error));
    browser.#process.stdio[3].on('error', () => {});
    browser.#process.stdio[4].setEncoding('utf8').on('data', text => browser.#read(text));
    return browser;
  }
  #giveUp(error) {
    for (const {failed} of this.#waiting.values()) failed(error);
    this.#waiting.clear();
  }
  #read(text) {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop();
    for (const message of messages.map(JSON.parse)) {
      const {done, failed} = this.#waiting.get(message.id) ?? {};
      this.#waiting.delete(message.id);
      if (message.error) failed?.(new Error(message.error.message));
      else done?.(message.result);
      if (message.method === 'Runtime.exceptionThrown')
        this.complaints.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
    }
  }
  // command('Page.navigate', {url}): its result.
  command(method, params = {}) {
    const id = ++this.#number;
    const answer = new Promise((done, failed) => this.#waiting.set(id, {done, failed}));
    this.#process.stdio[3].write(JSON.stringify({id, method, params, sessionId: this.#session}) + '\0');
    return answer;
  }

  // A new page of this size, with a script that runs before those of the page.
  async open(url, {width, height = 900, scale = 1, before = '', dark = false}) {
    this.#session = undefined;
    const {targetId} = await this.command('Target.createTarget', {url: 'about:blank'});
    this.#session = (await this.command('Target.attachToTarget', {targetId, flatten: true})).sessionId;
    await this.command('Runtime.enable');
    await this.command('Page.enable');
    await this.command('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: scale, mobile: width < 600});
    await this.command('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
    if (before) await this.command('Page.addScriptToEvaluateOnNewDocument', {source: before});
    await this.command('Page.navigate', {url});
    await this.until(`document.readyState === 'complete'`);
  }
  async evaluate(expression) {
    const {result, exceptionDetails} =
      await this.command('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  // Waits until the expression is true, on a machine that is busy, too; false after `seconds`.
  async until(expression, seconds = 300) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
      if (await this.evaluate(expression).catch(() => false)) return true;
      await new Promise(done => setTimeout(done, 50));
    }
    return false;
  }
  text(selector) { return this.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent.trim()`); }

  // ---- what a person does -----------------------------------------------------------------------
  // A place of 0 to 1 across and down an element, scrolled to where it can be seen.
  async place(selector, x = 0.5, y = 0.5) {
    return this.evaluate(`{
      const found = document.querySelector(${JSON.stringify(selector)});
      found.scrollIntoView({block: 'center'});
      const box = found.getBoundingClientRect();
      ({x: box.left + ${x} * box.width, y: box.top + ${y} * box.height});
    }`);
  }
  #mouse(type, at, pressed = false) {
    return this.command('Input.dispatchMouseEvent',
      {type, ...at, button: pressed ? 'left' : 'none', buttons: pressed ? 1 : 0, clickCount: pressed ? 1 : 0});
  }
  async hover(selector, x, y) { await this.#mouse('mouseMoved', await this.place(selector, x, y)); }
  async click(selector, x, y) {
    const at = await this.place(selector, x, y);
    await this.#mouse('mouseMoved', at);
    await this.#mouse('mousePressed', at, true);
    await this.#mouse('mouseReleased', at, true);
  }
  async drag(selector, from, to) {
    const begin = await this.place(selector, ...from), end = await this.place(selector, ...to);
    await this.#mouse('mouseMoved', begin);
    await this.#mouse('mousePressed', begin, true);
    for (let i = 1; i <= 8; ++i)
      await this.#mouse('mouseMoved', {x: begin.x + (end.x - begin.x) * i / 8, y: begin.y + (end.y - begin.y) * i / 8}, true);
    await this.#mouse('mouseReleased', end, true);
  }
  async tap(selector, x, y) {
    const at = await this.place(selector, x, y);
    await this.command('Input.dispatchTouchEvent', {type: 'touchStart', touchPoints: [at]});
    await this.command('Input.dispatchTouchEvent', {type: 'touchEnd', touchPoints: []});
  }
  async press(key, code = key) {
    const codes = {' ': 32, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Escape: 27, Backspace: 8, Tab: 9, Enter: 13};
    const params = {key, code, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0)};
    await this.command('Input.dispatchKeyEvent', {type: 'keyDown', ...params, ...(key === ' ' ? {text: ' '} : {})});
    await this.command('Input.dispatchKeyEvent', {type: 'keyUp', ...params});
  }

  // A PNG: of what can be seen, or of the whole page.
  async screenshot(whole = false) {
    const {data} = await this.command('Page.captureScreenshot', {format: 'png', captureBeyondViewport: whole});
    return Buffer.from(data, 'base64');
  }
  async close() {
    this.#session = undefined;
    const ended = new Promise(done => this.#process.once('exit', done));
    this.command('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#folder, {recursive: true, force: true, maxRetries: 5});
  }
}

// The pixels of a PNG of 8 bits, RGB or RGBA, not interlaced, as Chromium writes it: at(x, y) is [red, green, blue].
export function readPng(file) {
  const parts = [];
  let width, height, channels;
  for (let at = 8; at < file.length;) {
    const size = file.readUInt32BE(at), kind = file.toString('latin1', at + 4, at + 8), data = file.subarray(at + 8, at + 8 + size);
    if (kind === 'IHDR') [width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
    if (kind === 'IDAT') parts.push(data);
    at += size + 12;
  }
  const stride = width * channels, packed = inflateSync(Buffer.concat(parts)), pixels = new Uint8Array(height * stride);
  for (let y = 0; y < height; ++y) {
    const filter = packed[y * (stride + 1)];
    for (let i = 0; i < stride; ++i) {
      const here = y * stride + i;
      const left = i < channels ? 0 : pixels[here - channels], up = y === 0 ? 0 : pixels[here - stride];
      const corner = i < channels || y === 0 ? 0 : pixels[here - stride - channels];
      const paeth = () => {
        const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
        return a <= b && a <= c ? left : b <= c ? up : corner;
      };
      const guess = [() => 0, () => left, () => up, () => left + up >> 1, paeth][filter]();
      pixels[here] = packed[y * (stride + 1) + 1 + i] + guess;
    }
  }
  return {width, height, at: (x, y) => [...pixels.subarray((y * width + x) * channels, (y * width + x) * channels + 3)]};
}
