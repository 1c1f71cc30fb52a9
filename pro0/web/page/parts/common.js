/** Small parts that every screen uses. */
import { html } from "../html.js";
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { age, moment } from "../data/clock.js";
import { TURNED_AWAY, tone, words } from "../data/words.js";
import { GivenUp, attempt, say } from "./notices.js";

const CUTS = { lost: "The server cannot be reached.", ...TURNED_AWAY };

/** A state as a coloured dot and its word. */
export function State({ word }) {
  return html`<span class=${`state ${tone(word)}`}>${words(word)}</span>`;
}

export function Since({ at }) {
  return at && html`<time class="soft" datetime=${at} title=${moment(at)}>${age(at)}</time>`;
}

/** A button that runs an action and reports the result. Clicks during the action are ignored. */
export function Act({ label, run, done, look = "", name = undefined, ...rest }) {
  const [busy, setBusy] = useState(false);
  const click = async () => {
    if (busy) return;
    setBusy(true);
    await attempt(run, done);
    setBusy(false);
  };
  return html`<button type="button" class=${`act ${look}`} aria-busy=${busy} aria-label=${name} onClick=${click} ...${rest}>${label}</button>`;
}

/** A text field with its label. Text that the person has typed survives a redraw. */
export function Field({ label, area = false, about = "", value = "", autofocus = false, onInput, ...rest }) {
  const field = useRef(null);
  const touched = useRef(false);
  useLayoutEffect(() => void (touched.current || (field.current.value = value)), [value]);
  useLayoutEffect(() => void (autofocus && field.current.focus()), []);
  const typed = (event) => ((touched.current = true), onInput?.(event));
  return html`<label class="field">
    <span>${label}${about && html`<small class="soft"> ${about}</small>`}</span>
    ${area ? html`<textarea ref=${field} rows="4" autofocus=${autofocus} onInput=${typed} ...${rest}></textarea>` : html`<input ref=${field} autocomplete="off" autofocus=${autofocus} onInput=${typed} ...${rest} />`}
  </label>`;
}

/** A choice among [value, words]. With a name, as in a form, it keeps the person's choice; else it shows `value`. */
export function Choice({ label, options, value = "", onChange, ...rest }) {
  const [chosen, setChosen] = useState(null);
  const change = (event) => (setChosen(event.target.value), onChange?.(event));
  return html`<label class="field">
    <span>${label}</span>
    <select value=${(rest.name && chosen) ?? value} onChange=${change} ...${rest}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key}>${text}</option>`)}
    </select>
  </label>`;
}

export function Heading({ title, children }) {
  return html`<header class="heading"><h1 tabindex="-1">${title}</h1><div class="row">${children}</div></header>`;
}

/** The message in place of an empty list, with the next step: `act` is a button or a link. */
export function Empty({ title, act = null, children }) {
  return html`<div class="empty"><p class="large">${title}</p><p class="soft">${children}</p>${act}</div>`;
}

/** The message while a list is loading, or why it cannot be loaded. */
export function Loading({ list }) {
  const error = list.error.value;
  if (error) return html`<${Empty} title=${error.message}>${error.hint}<//>`;
  return html`<p class="empty soft" role="status">One moment …</p>`;
}

/** Says why what is shown may be out of date, while the connection that brings it is cut or cannot be read. */
export function Cut({ connection }) {
  const { state, behind } = connection ?? {};
  const what = CUTS[state?.value] ?? (behind?.value && "Some of this could not be read again.");
  return html`<p class="cut" role="status">${what && `${what} What you see may be out of date; this page tries again automatically.`}</p>`;
}

/** Reset the form of a sent text, unless the person has changed the text meanwhile. */
export function cleared(form, name, sent) {
  if (form.elements[name].value === sent) form.reset();
}

/** A form that sends its fields. An error is shown below the fields until the next attempt. */
export function Form({ send, label, children, cancel = null, done = "", others = null }) {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    const form = event.currentTarget;
    setBusy(true);
    setError(null);
    try {
      const result = await send(Object.fromEntries(new FormData(form)), form);
      if (done) say(typeof done === "function" ? done(result) : done);
    } catch (caught) {
      setError(caught instanceof GivenUp ? null : caught);
    }
    setBusy(false);
  };
  return html`<form onSubmit=${submit} class="stack">
    ${children}
    <p class="bad" role="alert">${error && `${error.message}${error.hint ? `: ${error.hint}` : ""}`}</p>
    <div class="row wrap answers">
      <button class="act primary" aria-busy=${busy}>${label}</button>
      ${cancel && html`<button type="button" class="act" onClick=${cancel}>Cancel</button>`}
      ${others}
    </div>
  </form>`;
}
