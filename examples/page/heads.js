// SPDX-License-Identifier: BSL-1.0
// The eight heads on the page: a map each, the picture twice with what lies over it, and a switch.
'use strict';

const mapSize = 6 * patchCount, overlaySize = 4 * side;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

class HeadsView {
  #heads; // [layer][head]: what is drawn on
  #seen = null;

  // strip: where all maps are again, small. A click on one of them shows the large one.
  // pointed(patch or null): what the pointer is over. pinned(patch or null): clicked or moved to; toggled(layer, head).
  constructor(place, strip, {pointed, pinned, toggled}) {
    this.#heads = Array.from({length: layerCount}, (_, layer) => {
      const row = element('div', {class: 'heads'});
      strip.append(element('span', {class: 'soft small'}, `Layer ${layer + 1}`));
      const heads = Array.from({length: headCount}, (_, head) => {
        const made = makeHead(layer, head);
        made.toggle.addEventListener('change', () => toggled(layer, head));
        for (const canvas of [made.map, made.to, made.from]) {
          const at = canvas === made.map ? queryAt : patchOf;
          canvas.addEventListener('pointermove', event => { if (event.pointerType !== 'touch') pointed(at(canvas, event)); });
          canvas.addEventListener('pointerleave', () => pointed(null));
          canvas.addEventListener('click', event => pinned(at(canvas, event)));
        }
        made.to.addEventListener('keydown', event => this.#key(event, pinned));
        made.tile.addEventListener('click', () => made.figure.scrollIntoView({block: 'center'}));
        row.append(made.figure);
        strip.append(made.tile);
        return made;
      });
      place.append(element('h3', {}, `Layer ${layer + 1}`), row);
      return heads;
    });
  }

  // seen: of Network.look. kept: the heads as bits. patch: the chosen one, or null.
  draw(pixels, seen, kept, patch) {
    this.#seen = {patch};
    const dimmed = pictureCanvas(pixels, 0.55);
    const most = Math.max(...seen.maps.flat().filter(Boolean).map(map => map.reduce((a, b) => Math.max(a, b))));
    this.#heads.forEach((heads, layer) => heads.forEach((head, i) => {
      const map = seen.maps[layer][i];
      head.toggle.checked = map !== null;
      head.toggle.disabled = map !== null && (kept[layer] & kept[layer] - 1) === 0; // the last one
      head.toggle.title = head.toggle.disabled ? 'A layer keeps at least one head.' : '';
      head.figure.classList.toggle('off', map === null);
      if (map === null) drawNothing(head);
      else drawHead(head, map, most, dimmed, patch);
      drawTile(head);
    }));
    return most;
  }

  #key(event, pinned) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    if (event.key === 'Escape') return pinned(null);
    if (!(event.key in steps)) return;
    event.preventDefault();
    const patch = this.#seen?.patch ?? (patchCount - 1) / 2;
    const within = value => Math.min(Math.max(value, 0), patchSide - 1);
    const column = within(patch % patchSide + steps[event.key][0]);
    pinned(within(Math.floor(patch / patchSide) + steps[event.key][1]) * patchSide + column);
  }
}

function makeHead(layer, head) {
  const name = `Layer ${layer + 1}, head ${head + 1}`;
  const canvas = (size, kind, label) =>
    element('canvas', {class: kind, width: size, height: size, role: 'img', 'aria-label': `${name}: ${label}`});
  const toggle = element('input', {type: 'checkbox', 'aria-label': `${name} is kept`, 'data-layer': layer, 'data-head': head});
  const map = canvas(mapSize, 'map', 'its map');
  const to = canvas(overlaySize, 'overlay to', 'what is attended to. Arrow keys choose a patch, Escape lets it go.');
  const from = canvas(overlaySize, 'overlay from', 'what attends');
  to.tabIndex = 0;
  const small = element('canvas', {width: mapSize, height: mapSize});
  const tile = element('button', {class: 'tile', type: 'button', 'aria-label': `${name}: show its map`}, small);
  const saysTo = element('span', {class: 'says-to'}), saysFrom = element('span', {class: 'says-from'});
  const figure = element('figure', {class: 'head'},
    element('figcaption', {}, element('label', {}, toggle, ` head ${head + 1}`)), map,
    element('div', {class: 'overlays'}, element('div', {}, to, saysTo), element('div', {}, from, saysFrom)));
  return {figure, toggle, map, to, from, saysTo, saysFrom, tile, small};
}

// ---- where the pointer is -----------------------------------------------------------------------
function placeOf(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}
function patchOf(canvas, event) { return patchAt(...placeOf(canvas, event)); }
// The row of a map.
function queryAt(canvas, event) {
  const [, y] = placeOf(canvas, event);
  return Math.min(Math.max(Math.floor(y * patchCount), 0), patchCount - 1);
}

// ---- drawing ------------------------------------------------------------------------------------
const rowOf = (map, query) => map.subarray(query * patchCount, (query + 1) * patchCount);
const columnOf = (map, key) => Float32Array.from({length: patchCount}, (_, query) => map[query * patchCount + key]);
// What each patch is given, on average over those that look.
const meanOf = map => Float32Array.from({length: patchCount}, (_, key) => columnOf(map, key).reduce((a, b) => a + b) / patchCount);
const largestOf = values => values.reduce((best, value, i) => value > values[best] ? i : best, 0);
const percent = share => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

function drawHead(head, map, most, dimmed, patch) {
  drawMap(head.map.getContext('2d'), map, most, patch);
  const to = patch === null ? meanOf(map) : rowOf(map, patch);
  drawShares(head.to.getContext('2d'), dimmed, to, patch);
  const first = largestOf(to);
  head.saysTo.textContent = patch === null ? 'mean' : `→ ${first}: ${percent(to[first])}`;
  if (patch === null) {
    drawLinks(head.from.getContext('2d'), dimmed, map);
    head.saysFrom.textContent = 'links';
  } else {
    const from = columnOf(map, patch), strongest = largestOf(from);
    drawShares(head.from.getContext('2d'), dimmed, from, patch);
    head.saysFrom.textContent = `← ${strongest}: ${percent(from[strongest])}`;
  }
}

function drawTile({map, small, figure, tile}) {
  const context = small.getContext('2d');
  context.clearRect(0, 0, mapSize, mapSize);
  context.drawImage(map, 0, 0);
  tile.classList.toggle('off', figure.classList.contains('off'));
}

function drawNothing(head) {
  for (const canvas of [head.map, head.to, head.from]) canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
  head.saysTo.textContent = 'off';
  head.saysFrom.textContent = '';
}

// The square root of a share is its place on the scale, so that small ones are told apart.
function drawMap(context, map, most, patch) {
  const image = new ImageData(patchCount, patchCount);
  map.forEach((share, i) => image.data.set([...colourOf(Math.sqrt(share / most)), 255], 4 * i));
  const small = element('canvas', {width: patchCount, height: patchCount});
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, mapSize, mapSize);
  if (patch === null) return;
  const step = mapSize / patchCount;
  context.strokeStyle = '#5ad1ff';
  context.lineWidth = 2;
  context.strokeRect(1, patch * step, mapSize - 2, step);
  context.strokeRect(patch * step, 1, step, mapSize - 2);
}

// The picture, and over it the shares, of the largest.
function drawShares(context, dimmed, shares, patch) {
  const step = overlaySize / patchSide, most = shares[largestOf(shares)];
  context.imageSmoothingEnabled = false;
  context.drawImage(dimmed, 0, 0, overlaySize, overlaySize);
  shares.forEach((share, i) => {
    context.fillStyle = `rgba(${overlayColour}, ${most > 0 ? 0.85 * share / most : 0})`;
    context.fillRect(i % patchSide * step, Math.floor(i / patchSide) * step, step, step);
  });
  if (patch !== null) framePatch(context, patch, overlaySize, '#5ad1ff');
}

// A line from each patch to the one that it attends to most, the more opaque the more.
function drawLinks(context, dimmed, map) {
  const step = overlaySize / patchSide;
  const centre = patch => [(patch % patchSide + 0.5) * step, (Math.floor(patch / patchSide) + 0.5) * step];
  context.imageSmoothingEnabled = false;
  context.drawImage(dimmed, 0, 0, overlaySize, overlaySize);
  context.lineWidth = 1.5;
  for (let query = 0; query < patchCount; ++query) {
    const row = rowOf(map, query), key = largestOf(row);
    const colour = `rgba(${overlayColour}, ${Math.min(0.25 + 2 * row[key], 1)})`;
    context.strokeStyle = context.fillStyle = colour;
    context.beginPath();
    context.moveTo(...centre(query));
    context.lineTo(...centre(key));
    context.stroke();
    context.beginPath();
    context.arc(...centre(key), 2.2, 0, 7);
    context.fill();
  }
}
