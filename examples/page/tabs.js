// SPDX-License-Identifier: BSL-1.0
// Tabs: by click, and by the arrow keys.
'use strict';

// opened(panel id): the first time that it is shown.
function startTabs(opened) {
  const tabs = [...document.querySelectorAll('[role=tab]')], seen = new Set();
  const panelOf = tab => document.getElementById(tab.getAttribute('aria-controls'));
  const show = shown => {
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', tab === shown);
      tab.tabIndex = tab === shown ? 0 : -1;
      panelOf(tab).hidden = tab !== shown;
    }
    const {id} = panelOf(shown);
    if (!seen.has(id)) opened(id);
    seen.add(id);
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => show(tab));
    tab.addEventListener('keydown', event => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (step === undefined) return;
      const next = tabs[(i + step + tabs.length) % tabs.length];
      next.focus();
      show(next);
    });
  });
  show(tabs[0]);
}
