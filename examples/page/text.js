// SPDX-License-Identifier: BSL-1.0
// The tab of the language model: the text as it is written, the maps of all heads, the next character.
'use strict';

const pause = 30; // ms between two characters, so that one can follow

class TextPage {
  #model;
  #tokens = [];
  #rows = []; // of each token: [block][head], shares of those up to it
  #spans = [];
  #chosen = {block: 4, head: 0};
  #at = null; // the character that is pointed at; else the last one
  #timer = null;
  #written = 0;
  #maps;

  constructor(model) {
    this.#model = model;
    this.#maps = this.#makeMaps();
    for (const id of ['go', 'again']) $(id).disabled = false;
    $('write').addEventListener('submit', event => { event.preventDefault(); this.#timer === null ? this.#start() : this.#stop(); });
    $('again').addEventListener('click', () => { this.#stop(); this.#begin(); });
    $('prompt').addEventListener('change', () => { this.#stop(); this.#begin(); });
    $('temperature').addEventListener('input', () => { $('temperature-says').textContent = $('temperature').value; });
    $('written').addEventListener('pointermove', event => { if (event.pointerType !== 'touch') this.#point(this.#placeOf(event)); });
    $('written').addEventListener('pointerleave', () => this.#point(null));
    $('written').addEventListener('click', event => this.#point(this.#placeOf(event)));
    $('written').addEventListener('keydown', event => this.#key(event));
    this.#begin();
  }

  // ---- writing ----------------------------------------------------------------------------------
  // The prompt is read. False, and it is said, where it cannot be.
  #begin() {
    const prompt = [...$('prompt').value], unknown = prompt.find(letter => !alphabet.includes(letter));
    $('text-problem').hidden = true;
    try {
      if (prompt.length === 0) throw new Problem('The text to begin with is empty: the model goes on with one.');
      if (unknown !== undefined)
        throw new Problem(`“${unknown}” is not among the 64 characters that the model knows: the letters A to Z, spaces, line ends and !'(),-.:;?`);
    } catch (problem) {
      sayProblem(problem, 'text-problem');
      this.#readAnew([]);
      return false;
    }
    this.#model.seed(Math.floor(Math.random() * 2 ** 32));
    this.#written = 0;
    this.#readAnew(prompt.map(letter => alphabet.indexOf(letter)));
    return true;
  }
  #readAnew(tokens) {
    this.#model.forget();
    this.#tokens = [];
    this.#rows = [];
    this.#spans = [];
    this.#at = null;
    $('written').replaceChildren();
    for (const token of tokens) this.#read(token);
    this.#draw();
  }
  #read(token) {
    this.#rows.push(this.#model.read(token));
    this.#tokens.push(token);
    const span = element('span', {}, alphabet[token]);
    this.#spans.push(span);
    $('written').append(span);
  }
  #start() {
    if (this.#tokens.length === 0 && !this.#begin()) return;
    $('go').textContent = 'Stop';
    this.#step();
  }
  #stop() {
    clearTimeout(this.#timer);
    this.#timer = null;
    $('go').textContent = 'Write';
  }
  // When the context is full, the model forgets all but the last half and reads that again.
  #step() {
    if (this.#model.size === textContext) this.#readAnew(this.#tokens.slice(textContext / 2));
    if (this.#written++ === 0) this.#model.spent = 0;
    this.#read(this.#model.draw(Number($('temperature').value)));
    this.#draw();
    this.#timer = setTimeout(() => this.#step(), pause);
  }

  // ---- pointing ---------------------------------------------------------------------------------
  #placeOf(event) {
    const at = this.#spans.indexOf(event.target);
    return at === -1 ? null : at;
  }
  #point(at) {
    if (at === this.#at || this.#tokens.length === 0) return;
    this.#at = at;
    this.#drawText();
  }
  #key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (event.key === 'Escape') this.#point(null);
    if (step === undefined) return;
    event.preventDefault();
    const last = this.#spans.length - 1;
    this.#point(Math.min(Math.max((this.#at ?? last) + step, 0), last));
  }

  // ---- drawing ----------------------------------------------------------------------------------
  #makeMaps() {
    return Array.from({length: blockCount}, (_, block) => {
      const row = element('div', {class: 'block'});
      $('blocks').append(element('h3', {}, `Block ${block + 1}`), row);
      return Array.from({length: blockHeads}, (_, head) => {
        const canvas = element('canvas', {width: textContext, height: textContext});
        const button = element('button', {type: 'button', 'aria-label': `block ${block + 1}, head ${head + 1}`}, canvas);
        button.addEventListener('click', () => { this.#chosen = {block, head}; this.#draw(); });
        row.append(button);
        // All rows so far, a pixel a share; the canvas shows as much of it as there is text.
        return {button, canvas, image: element('canvas', {width: textContext, height: textContext}), rows: 0};
      });
    });
  }
  #draw() {
    const size = this.#tokens.length;
    this.#maps.forEach((heads, block) => heads.forEach((map, head) => {
      const to = map.image.getContext('2d');
      if (map.rows >= size || size === 0) {
        to.clearRect(0, 0, textContext, textContext);
        map.rows = 0;
      }
      for (; map.rows < size; ++map.rows) {
        const shares = this.#rows[map.rows][block][head], line = new ImageData(shares.length, 1);
        shares.forEach((share, i) => line.data.set([...colourOf(Math.sqrt(share)), 255], 4 * i));
        to.putImageData(line, 0, map.rows);
      }
      const shown = Math.max(size, 32), context = map.canvas.getContext('2d');
      context.imageSmoothingEnabled = false;
      context.clearRect(0, 0, textContext, textContext);
      context.drawImage(map.image, 0, 0, shown, shown, 0, 0, textContext, textContext);
    }));
    $('next').tBodies[0]?.remove();
    if (size !== 0) {
      this.#drawNext();
      this.#drawText();
    }
    $('read-count').textContent = `${size} of ${textContext}`;
    $('text-time').textContent = this.#written === 0 ? '–' : microseconds(1000 * this.#model.spent / this.#written);
  }
  // The most likely five.
  #drawNext() {
    const shares = softmax(this.#model.logits);
    const order = shares.map((_, i) => i).sort((a, b) => shares[b] - shares[a]).slice(0, 5);
    const names = {' ': 'space', '\n': 'line end'};
    $('next').append(element('tbody', {}, ...order.map((token, i) => {
      const row = element('tr', i === 0 ? {class: 'first'} : {},
        element('th', {scope: 'row'}, names[alphabet[token]] ?? alphabet[token]), element('td', {}, element('i')), element('td', {}, percent(shares[token])));
      row.querySelector('i').style.width = `${100 * shares[token]}%`;
      return row;
    })));
  }
  // Behind each character, how much of the attention of the one that is pointed at it has.
  #drawText() {
    const at = this.#at ?? this.#tokens.length - 1, {block, head} = this.#chosen;
    const shares = this.#rows[at][block][head], most = Math.max(...shares);
    this.#spans.forEach((span, i) => {
      span.classList.toggle('here', i === at);
      const opacity = i <= at ? shares[i] / most : 0;
      span.style.background = opacity === 0 ? '' : `rgba(${overlayColour}, ${opacity.toFixed(2)})`;
      span.style.color = opacity > 0.4 ? '#000' : '';
    });
    this.#maps.forEach((heads, b) => heads.forEach(({button}, h) => button.setAttribute('aria-pressed', b === block && h === head)));
    const first = largestOf(shares), letter = i => alphabet[this.#tokens[i]] === '\n' ? '↵' : alphabet[this.#tokens[i]];
    $('chosen-head').textContent = `Block ${block + 1}, head ${head + 1}: character ${at + 1}, “${letter(at)}”, attends most to ` +
      `character ${first + 1}, “${letter(first)}”, ${percent(shares[first])}.`;
  }
}
