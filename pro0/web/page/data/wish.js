/** An act that the palette leads to: the screen of its subject has the focus on it. */
import { signal } from "../vendor/signals.js";
import { go } from "./route.js";

/** {of, label}, or null when there is none. */
const wish = signal(null);

/** Show a subject, or a screen as a whole, with the focus on one of its acts: the person sees what it is about first. */
export function goTo(screen, item, label) {
  wish.value = { of: item || screen, label };
  go(screen, item);
}

/** The label of the act that is wanted of a subject; "" for none. */
export const wanted = (of) => (wish.value?.of === of ? wish.value.label : "");

/** Give the focus to the wanted act, once it is drawn; false when none is. */
export function focusWanted() {
  const act = document.querySelector("[data-wanted]");
  act?.focus();
  wish.value = null;
  return Boolean(act);
}
