/** Ctrl+K: every screen, act, member and task by its name. */
import { html } from "../html.js";
import { useLayoutEffect, useState } from "../vendor/hooks.js";
import { useLoaded } from "../data/load.js";
import { team } from "../data/team.js";
import { closeDialog, openDialog } from "./dialog.js";
import { acts, names } from "./reach.js";

const SHOWN = 12;

export const openPalette = () => openDialog("Go to", Palette, "palette");

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && team.value && !event.target.closest?.(".xterm-place.taken")) {
    event.preventDefault();
    openPalette();
  }
});

const loading = () => [team.value.members, team.value.tasks].some((list) => !list.ready.value && !list.error.value);

const plain = (text) => text.toLowerCase().replace(":", "");

/** How well a text matches what is typed: smaller is better, Infinity is no match. */
export function distance(text, typed) {
  const low = plain(text);
  const at = low.indexOf(typed);
  if (at >= 0) return at;
  if (typed.split(/\s+/).every((word) => low.includes(word))) return 500;
  let from = 0;
  for (const letter of typed) {
    from = low.indexOf(letter, from) + 1;
    if (!from) return Infinity;
  }
  return 1000 + from;
}

function Palette() {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  // True after Enter while names are still loading: it then applies to the first match of all names.
  const [entered, setEntered] = useState(false);
  useLoaded(() => team.value.loadRoles().catch(() => {}));
  const fitting = [...names(), ...(typed.trim() ? acts() : [])]
    .map((entry) => ({ ...entry, far: distance(entry.text, plain(typed.trim())) }))
    .filter(({ far }) => far < Infinity)
    .sort((one, other) => (typed ? one.far - other.far : 0))
    .slice(0, SHOWN);
  const run = (entry) => entry && (closeDialog(), entry.run());
  // While names load, a better match may still come, so Enter waits. It acts at once on an entry chosen with an arrow,
  // and on a screen whose title begins with what is typed.
  const enter = () => (loading() && !chosen && !(typed && fitting[0]?.kind === "screen" && !fitting[0].far) ? setEntered(true) : run(fitting[chosen]));
  useLayoutEffect(() => void (entered && !loading() && run(fitting[chosen])));
  useLayoutEffect(() => document.getElementById(`found-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen, typed]);
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen((chosen + step + fitting.length) % Math.max(1, fitting.length));
    else if (event.key === "Enter") enter();
    else return;
    event.preventDefault();
  };
  return html`<input class="large" autofocus placeholder="A screen, an act, a member, a task" aria-label="Go to" role="combobox" aria-expanded="true"
      aria-controls="found" aria-activedescendant=${fitting.length ? `found-${chosen}` : undefined} value=${typed}
      onInput=${(event) => (setTyped(event.target.value), setChosen(0), setEntered(false))} onKeyDown=${key} />
    <ul id="found" role="listbox" aria-label="Matches">${fitting.map((entry, place) => html`<li key=${entry.kind + entry.text} id=${`found-${place}`} role="option"
      aria-selected=${place === chosen} onMouseDown=${(event) => (event.preventDefault(), run(entry))}><span>${entry.text}</span><span class="soft small">${entry.kind}</span></li>`)}</ul>
    ${!fitting.length && html`<p class="soft" role="status">${loading() ? "One moment …" : "Nothing has that name."}</p>`}`;
}
