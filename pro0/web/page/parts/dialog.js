/** The dialog, one at a time. The browser keeps the focus in it, and restores the focus when it closes. */
import { html } from "../html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { effect, signal } from "../vendor/signals.js";
import { team } from "../data/team.js";

const open = signal(null);
let count = 0;

/** Open a dialog; the function `content` draws its content. `left` is called once it is closed, in whatever way. */
export const openDialog = (title, content, look = "", left = null) => show({ title, content, look, left, of: team.peek(), key: ++count });

export const closeDialog = () => show(null);

function show(next) {
  const last = open.peek();
  open.value = next;
  last?.left?.();
}

// Leaving a team closes its dialog: a redraw would make the dialog show the other team, and act on it.
effect(() => {
  const here = team.value;
  if (open.peek() && open.peek().of !== here) closeDialog();
});

/** Return a function that closes the present dialog, but none that the person opens later. */
export function closer() {
  const shown = open.peek();
  return () => open.peek() === shown && closeDialog();
}

/** Ask before something that cannot be undone. */
export function confirmed(title, text, label, act) {
  openDialog(title, () => html`<p>${text}</p>
    <div class="row">
      <button type="button" class="act danger" onClick=${() => (closeDialog(), act())}>${label}</button>
      <button type="button" class="act" autofocus onClick=${closeDialog}>Cancel</button>
    </div>`);
}

export function Dialog() {
  const element = useRef(null);
  const ours = useRef(false);
  const shown = open.value;
  // A layout effect runs before the next key: text typed right after Ctrl+K belongs in the dialog.
  useLayoutEffect(() => {
    if (shown) {
      if (!element.current.open) element.current.showModal();
      element.current.querySelector("[autofocus]")?.focus();
    }
    if (!shown && element.current.open) {
      ours.current = true;
      element.current.close();
    }
  }, [shown]);
  // The close event arrives late: by then another dialog may be requested or open.
  const closed = () => {
    if (!ours.current && !element.current.open) closeDialog();
    ours.current = false;
  };
  // A click on the backdrop has the dialog as its target, just like one on its padding or its scroll bar.
  const outside = ({ target, clientX: x, clientY: y }) => {
    const { left, right, top, bottom } = element.current.getBoundingClientRect();
    if (target === element.current && (x < left || x > right || y < top || y > bottom)) closeDialog();
  };
  return html`<dialog ref=${element} class=${shown?.look ?? ""} aria-label=${shown?.title} onClose=${closed} onMouseDown=${outside}>
    ${shown && html`<div class="stack" key=${shown.key}>
      ${shown.look ? null : html`<header class="heading"><h2>${shown.title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick=${closeDialog}>×</button></header>`}
      <${shown.content} />
    </div>`}
  </dialog>`;
}
