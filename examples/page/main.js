// SPDX-License-Identifier: BSL-1.0
// The page: what is chosen, and what follows from it.
'use strict';

const $ = id => document.getElementById(id);

// ---- the classifier -----------------------------------------------------------------------------
class HeadsPage {
  #network;
  #pad;
  #view;
  #kept = [everyHead, everyHead];
  #pointed = null; // the patch under the pointer
  #pinned = null;  // and the one that was clicked
  #seen = null;
  #pictures;
  #times;

  constructor(network, pictures) {
    this.#network = network;
    this.#pictures = pictures;
    this.#times = new Times(kept => network.time(kept), () => this.#showTimes());
    const pointed = patch => this.#point(patch);
    this.#pad = new Pad($('pad'), () => { this.#choosePicture(null); this.#look(); }, pointed);
    this.#view = new HeadsView($('layers'), $('strip'), {
      pointed,
      pinned: patch => { this.#pinned = patch === this.#pinned ? null : patch; this.#pointed = null; this.#draw(); },
      toggled: (layer, head) => { this.#kept[layer] ^= 1 << head; this.#look(); },
    });
    $('clear').addEventListener('click', () => this.#pad.clear());
    $('erase').addEventListener('click', () => {
      this.#pad.erasing = !this.#pad.erasing;
      $('erase').setAttribute('aria-pressed', this.#pad.erasing);
    });
    this.#listPictures();
    this.#listClasses();
    this.#listChoices();
    drawScale($('scale'));
    $('passes').textContent = Network.passes;
    $('machine').textContent = `${native.machine}, ${native.compiler}`;
    this.#show(18);
  }

  #listPictures() {
    const {names, labels} = this.#pictures;
    labels.forEach((label, i) => {
      const button = element('button', {'aria-label': `test picture: ${names[label]}`, title: names[label]},
        pictureCanvas(this.#pixelsOf(i), 1));
      button.addEventListener('click', () => this.#show(i));
      $('samples').append(button);
    });
  }
  #pixelsOf(i) { return this.#pictures.pixels.subarray(i * side * side, (i + 1) * side * side); }
  #choosePicture(chosen) {
    [...$('samples').children].forEach((button, i) => button.setAttribute('aria-pressed', i === chosen));
  }
  #show(i) {
    this.#pad.set(this.#pixelsOf(i));
    this.#choosePicture(i);
  }

  #listClasses() {
    for (const name of this.#pictures.names)
      $('classes').append(element('tr', {}, element('th', {scope: 'row'}, name), element('td', {}, element('i')), element('td')));
  }

  // The best choice of each number of heads, as many in both layers.
  #listChoices() {
    for (let count = headCount; count >= 1; --count) {
      const kept = bestChoice(count);
      const cells = [`${count} + ${count}`, shareRight(kept), '', nativeTime(kept)].map(text => element('td', {}, text));
      const button = element('button', {}, 'show');
      button.addEventListener('click', () => { this.#kept = [...kept]; this.#look(); });
      const row = element('tr', {}, ...cells, element('td', {}, button));
      row.showTime = () => { cells[2].textContent = timeOrNone(this.#times.of(kept)); };
      this.#times.measure(kept);
      $('choices').tBodies[0].append(row);
    }
  }
  #showTimes() {
    for (const row of $('choices').tBodies[0].rows) row.showTime();
    $('time-here').textContent = timeOrNone(this.#times.of(this.#kept));
  }

  #look() {
    this.#seen = this.#network.look(this.#pad.pixels, this.#kept);
    this.#times.measure(this.#kept);
    this.#showTimes();
    $('time-native').textContent = nativeTime(this.#kept);
    $('share-right').textContent = shareRight(this.#kept);
    $('kept').textContent = this.#kept.map(headsIn).join(' + ');
    this.#drawClasses();
    this.#draw();
    $('hint').textContent = this.#hint();
  }

  // What to know about a picture that isn't like clothes: the answer to it means little. All heads are asked, whatever is kept.
  #hint() {
    if (this.#pad.pixels.every(level => level === 0)) return 'The pad is empty. Draw, or pick a picture.';
    const {logits} = this.#kept.every(bits => bits === everyHead) ? this.#seen : this.#network.look(this.#pad.pixels, [everyHead, everyHead]);
    if (logOfSum(logits) >= accuracy.familiar[largestOf(logits)]) return '';
    return 'Unlike the clothes in the test pictures: the answer is a guess. Fill outlines in.';
  }

  #drawClasses() {
    const shares = this.#seen.probabilities, first = largestOf(shares);
    $('answer').textContent = `${this.#pictures.names[first]}, ${percent(shares[first]).replace(' ', '\u00a0')}`;
    [...$('classes').rows].forEach((row, i) => {
      row.classList.toggle('first', i === first);
      row.querySelector('i').style.width = `${100 * shares[i]}%`;
      row.cells[2].textContent = percent(shares[i]);
    });
  }

  #point(patch) {
    if (patch === this.#pointed) return;
    this.#pointed = patch;
    this.#draw();
  }
  #draw() {
    const patch = this.#pointed ?? this.#pinned;
    this.#pad.draw(patch);
    const most = this.#view.draw(this.#pad.pixels, this.#seen, this.#kept, patch);
    $('scale-end').textContent = percent(most);
    $('patch').textContent = patch === null
      ? 'The mean of all patches, and links. Point at a patch, or tap it.'
      : `Patch ${patch}, row ${Math.floor(patch / patchSide) + 1}, column ${patch % patchSide + 1}: what it attends to, and who attends to it.`;
  }
}

// ---- figures ------------------------------------------------------------------------------------
const headsIn = bits => [0, 1, 2, 3].filter(head => bits >> head & 1).length;
const microseconds = time => `${time.toFixed(time < 99.5 ? 1 : 0)} µs`;
const timeOrNone = time => time === null ? '…' : microseconds(time);
const nativeTime = kept => microseconds(native.microseconds[headsIn(kept[0]) - 1][headsIn(kept[1]) - 1]);
const rightOf = kept => accuracy.right[kept[0] - 1][kept[1] - 1];
const shareRight = kept => `${(100 * rightOf(kept) / accuracy.pictures).toFixed(2)} %`;

function bestChoice(count) {
  const subsets = Array.from({length: everyHead}, (_, i) => i + 1).filter(bits => headsIn(bits) === count);
  return subsets.flatMap(a => subsets.map(b => [a, b])).reduce((best, kept) => rightOf(kept) > rightOf(best) ? kept : best);
}

function drawScale(canvas) {
  const image = new ImageData(canvas.width, 1);
  for (let x = 0; x < canvas.width; ++x) image.data.set([...colourOf(Math.sqrt(x / (canvas.width - 1))), 255], 4 * x);
  canvas.getContext('2d').putImageData(image, 0, 0);
}

// ---- the start ----------------------------------------------------------------------------------
// What other files of the page define: a file that is missing or cut off defines nothing.
const files = {
  'pictures.js': () => packedPictures,
  'accuracy.js': () => accuracy,
  'figures.js': () => native,
  'network.wasm.js': () => networkModule,
  'language.wasm.js': () => languageModule,
  'language.weights.js': () => languageWeights,
  'shapes.wasm.js': () => shapesModule,
};
function needFiles(...names) {
  for (const name of names) need(files[name], name);
}

async function startHeads() {
  needFiles('pictures.js', 'accuracy.js', 'figures.js', 'network.wasm.js');
  new HeadsPage(await Network.load(networkModule), picturesOf(packedPictures));
}

// Half a megabyte of weights, which are loaded when somebody looks.
async function startText() {
  await Promise.all(['language.wasm.js', 'language.weights.js'].map(loadScript));
  needFiles('language.wasm.js', 'language.weights.js');
  new TextPage(await LanguageModel.load(languageModule, languageWeights));
}

async function startShapes() {
  await loadScript('shapes.wasm.js');
  needFiles('shapes.wasm.js');
  new ShapesPage(await Rules.load(shapesModule));
}

startTabs(panel => {
  if (panel === 'text') startText().catch(error => sayProblem(error, 'text-problem'));
  if (panel === 'shapes') startShapes().catch(error => sayProblem(error, 'shapes-problem'));
});
startHeads().catch(error => {
  document.body.classList.add('broken');
  sayProblem(error);
});
