// SPDX-License-Identifier: BSL-1.0
// A pad of 28 x 28 pixels to draw on, by mouse, pen, finger or keyboard.
'use strict';

class Pad {
  static radius = 1.5; // of the pen, in pixels

  pixels = new Uint8Array(side * side);
  erasing = false;
  #canvas;
  #context;
  #cursor = {x: 14, y: 14};
  #last = null; // where the pen was, while it is down
  #changed;
  #pointed;

  // changed(): the pixels are others. pointed(patch or null): what the pen or the cursor is over.
  constructor(canvas, changed, pointed) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d');
    this.#changed = changed;
    this.#pointed = pointed;
    canvas.addEventListener('pointerdown', event => this.#down(event));
    canvas.addEventListener('pointermove', event => this.#move(event));
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, () => { this.#last = null; });
    canvas.addEventListener('pointerleave', () => pointed(null));
    canvas.addEventListener('keydown', event => this.#key(event));
    canvas.addEventListener('focus', () => this.draw());
    canvas.addEventListener('blur', () => { this.draw(); pointed(null); });
  }

  set(pixels) {
    this.pixels.set(pixels);
    this.#changed();
  }
  clear() {
    this.pixels.fill(0);
    this.#changed();
  }

  // patch: which one to frame, or null.
  draw(patch = null) {
    const context = this.#context, step = this.#canvas.width / side;
    context.imageSmoothingEnabled = false;
    context.drawImage(pictureCanvas(this.pixels, 1), 0, 0, this.#canvas.width, this.#canvas.height);
    if (patch !== null) framePatch(context, patch, this.#canvas.width, '#ffb020');
    if (document.activeElement === this.#canvas && this.#canvas.matches(':focus-visible')) {
      context.strokeStyle = '#5ad1ff';
      context.lineWidth = 3;
      context.strokeRect(this.#cursor.x * step, this.#cursor.y * step, step, step);
    }
  }

  #place(event) {
    const box = this.#canvas.getBoundingClientRect();
    return {x: (event.clientX - box.left) / box.width * side, y: (event.clientY - box.top) / box.height * side};
  }
  #down(event) {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#last = this.#place(event);
    this.#stroke(this.#last, this.#last);
  }
  #move(event) {
    const to = this.#place(event);
    this.#pointed(patchAt(to.x / side, to.y / side));
    if (this.#last === null) return;
    this.#stroke(this.#last, to);
    this.#last = to;
  }
  #key(event) {
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    const within = value => Math.min(Math.max(value, 0), side - 1);
    const centre = () => ({x: this.#cursor.x + 0.5, y: this.#cursor.y + 0.5});
    if (event.key in steps) {
      const [x, y] = steps[event.key];
      this.#cursor = {x: within(this.#cursor.x + x), y: within(this.#cursor.y + y)};
      this.#pointed(patchAt(centre().x / side, centre().y / side));
    } else if (event.key === ' ') {
      this.#stroke(centre(), centre());
    } else if (event.key === 'Backspace' || event.key === 'Delete') {
      this.#stroke(centre(), centre(), true);
    } else {
      return;
    }
    event.preventDefault();
  }

  // A line as thick as the pen, soft at its edge.
  #stroke(from, to, erasing = this.erasing) {
    const dx = to.x - from.x, dy = to.y - from.y, length = dx * dx + dy * dy;
    for (let y = 0; y < side; ++y) {
      for (let x = 0; x < side; ++x) {
        const px = x + 0.5 - from.x, py = y + 0.5 - from.y;
        const along = length === 0 ? 0 : Math.min(Math.max((px * dx + py * dy) / length, 0), 1);
        const ink = Math.min(Math.max(Pad.radius + 0.5 - Math.hypot(px - along * dx, py - along * dy), 0), 1) * 255;
        const old = this.pixels[y * side + x];
        this.pixels[y * side + x] = erasing ? Math.max(old - 2 * ink, 0) : Math.max(old, ink);
      }
    }
    this.#changed();
  }
}

// ---- pictures on a canvas -------------------------------------------------------------------------
// A canvas of 28 x 28 with the pixels, as bright as asked for.
function pictureCanvas(pixels, brightness) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  pixels.forEach((level, i) => image.data.set([level * brightness, level * brightness, level * brightness, 255], 4 * i));
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

// The patch at a place of 0 to 1 across and down, or null outside.
function patchAt(x, y) {
  if (!(x >= 0 && x < 1 && y >= 0 && y < 1)) return null;
  return Math.floor(y * patchSide) * patchSide + Math.floor(x * patchSide);
}

function framePatch(context, patch, width, colour) {
  const step = width / patchSide;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(2, width / 120);
  context.strokeRect(patch % patchSide * step, Math.floor(patch / patchSide) * step, step, step);
}
