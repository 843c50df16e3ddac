// SPDX-License-Identifier: BSL-1.0
// What cannot be done, said in the page.
'use strict';

// Its message is a sentence for those who look at the page.
class Problem extends Error {}

// place: the id of where it is said.
function sayProblem(error, place = 'problem') {
  place = document.getElementById(place);
  place.textContent = error instanceof Problem ? error.message : `Something went wrong in this page: ${error.message}`;
  place.hidden = false;
}

// value(): what a file of the page defines.
function need(value, file) {
  try {
    value();
  } catch {
    throw new Problem(`The page’s file ${file} is missing or damaged. Build the page again with “tools/demo page”, and copy the whole folder.`);
  }
}
