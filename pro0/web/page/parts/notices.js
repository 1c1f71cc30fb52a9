/** Notices of one line: what was done, or what failed and the next step. */
import { html } from "../html.js";
import { signal } from "../vendor/signals.js";

const SHOWN_FOR = 6000;
const notices = signal([]);
let count = 0;

function show(notice) {
  const entry = { ...notice, key: ++count };
  notices.value = [...notices.value.slice(-2), entry];
  if (!notice.bad) setTimeout(() => drop(entry), SHOWN_FOR);
}

const drop = (entry) => (notices.value = notices.value.filter((other) => other !== entry));

export const say = (text) => show({ text });

/** The person gave up the act, so no notice is shown. */
export class GivenUp extends Error {}

export const complain = (error) => error instanceof GivenUp || show({ text: error.message ?? String(error), hint: error.hint, bad: true });

/** Do something, and show a notice of success or failure. Returns null when it failed. */
export async function attempt(work, done = "") {
  try {
    const result = await work();
    const text = typeof done === "function" ? done(result) : done;
    if (text) say(text);
    return result ?? {};
  } catch (error) {
    complain(error);
    return null;
  }
}

export function Notices() {
  return html`<div class="notices">
    <div role="status">${notices.value.filter((one) => !one.bad).map(line)}</div>
    <div role="alert">${notices.value.filter((one) => one.bad).map(line)}</div>
  </div>`;
}

function line(entry) {
  return html`<p key=${entry.key} class=${entry.bad ? "notice bad" : "notice"}>
    <span>${entry.text}${entry.hint && html`<span class="hint"> ${entry.hint}</span>`}</span>
    <button type="button" class="icon" aria-label="Dismiss" onClick=${() => drop(entry)}>×</button>
  </p>`;
}
