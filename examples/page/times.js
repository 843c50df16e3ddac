// SPDX-License-Identifier: BSL-1.0
// How long a pass takes. A browser compiles a module well only while it runs, and other programs run in between. So a choice of heads
// is timed again and again, until that has not found a shorter time for a while. The picture makes no difference.
'use strict';

class Times {
  static enough = 12; // visits without a shorter time
  static most = 100; // of all, on a machine that never rests

  #timed;
  #told;
  #soon;
  #choices = new Map();
  #busy = false;

  // timed(kept): microseconds, measured once. told(): another choice has its time. soon(f): calls f after a pause.
  constructor(timed, told, soon = f => setTimeout(f, 30)) {
    this.#timed = timed;
    this.#told = told;
    this.#soon = soon;
  }

  // Microseconds of a pass through these heads, or null while they aren't known.
  of(kept) {
    const found = this.#choices.get(`${kept}`);
    return found && Times.#isKnown(found) ? found.least : null;
  }
  measure(kept) {
    if (this.#choices.has(`${kept}`)) return;
    this.#choices.set(`${kept}`, {kept: [...kept], least: Infinity, visits: 0, calm: 0});
    if (this.#busy) return;
    this.#busy = true;
    this.#soon(() => this.#visit());
  }

  static #isKnown({calm, visits}) { return calm >= Times.enough || visits >= Times.most; }

  // Each choice in turn, so that a program that runs for a moment delays no more than a visit of each.
  #visit() {
    const open = [...this.#choices.values()].filter(choice => !Times.#isKnown(choice));
    for (const choice of open) {
      const time = this.#timed(choice.kept);
      choice.calm = time < 0.97 * choice.least ? 0 : choice.calm + 1;
      choice.least = Math.min(choice.least, time);
      ++choice.visits;
    }
    if (open.some(Times.#isKnown)) this.#told();
    this.#busy = !open.every(Times.#isKnown);
    if (this.#busy) this.#soon(() => this.#visit());
  }
}
