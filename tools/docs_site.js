// SPDX-License-Identifier: BSL-1.0
// What tools/docs_site.py adds to the theme: a group in the list of pages opens with its first page; tables have the theme's class.
for (const group of document.querySelectorAll('.wy-menu-vertical a[href="#"]')) {
  const first = group.parentElement.querySelector('ul a');
  if (first && !group.closest('li').querySelector(':scope li.current')) group.href = first.href;
}
for (const table of document.querySelectorAll('.rst-content table')) table.classList.add('docutils');
