// SPDX-License-Identifier: BSL-1.0
// The Test Anything Protocol: one line a check, the plan at the end.
let count = 0, failed = 0;

export function check(name, passed, ...details) {
  if (++count === 1) console.log('TAP version 13');
  if (!passed) ++failed;
  console.log(`${passed ? 'ok' : 'not ok'} ${count} - ${name}`);
  if (!passed && details.length) console.log(`# ${details.map(detail => JSON.stringify(detail)).join(' ')}`);
}
export const same = (name, found, wanted) => check(name, JSON.stringify(found) === JSON.stringify(wanted), found, wanted);

export function finish() {
  console.log(`1..${count}`);
  process.exitCode = failed === 0 && count !== 0 ? 0 : 1;
}
