/** One dialog at a time: the browser keeps the focus in it and gives it back. */
import { html } from "../html.js";
import { useLayoutEffect, useRef } from "../vendor/hooks.js";
import { effect, signal } from "../vendor/signals.js";
import { team } from "../data/team.js";

const open = signal(null);
let count = 0;

/** Show `content`, a function that draws what is in the dialog; `left` is called once it is gone, whatever closed it. */
export const openDialog = (title, content, look = "", left = null) => show({ title, content, look, left, of: team.peek(), key: ++count });

export const closeDialog = () => show(null);

function show(next) {
  const last = open.peek();
  open.value = next;
  last?.left?.();
}

// Whoever leaves a team leaves its dialog too: drawn anew it would be about the other team, and act on it.
effect(() => {
  const here = team.value;
  if (open.peek() && open.peek().of !== here) closeDialog();
});

/** What closes the dialog that is open now, and none that the person opens later. */
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
  // Before the next key: what is typed right after Ctrl+K belongs into the dialog.
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
  // The event comes late: by then another dialog may be wanted, or be there.
  const closed = () => {
    if (!ours.current && !element.current.open) closeDialog();
    ours.current = false;
  };
  // What covers the rest of the page is the dialog's own target too, as its margin and its scroll bar are.
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
