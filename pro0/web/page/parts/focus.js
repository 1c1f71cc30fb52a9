/** Keyboard users keep their place: when the focused element is removed, the focus moves to its neighbour. */

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
const PARTS = "li, aside, section, dialog, main";

let last = null;

/** Begin to watch which element has the focus. */
export function keepFocus() {
  addEventListener("focusin", ({ target }) => (last = target));
  // A click beside all controls gives up the focus. The removal of the focused element does not.
  addEventListener("focusout", ({ target }) => setTimeout(() => {
    if (last === target && target.isConnected && target !== document.activeElement) last = null;
  }));
  new MutationObserver(moved).observe(document.body, { childList: true, subtree: true });
}

function moved(records) {
  if (!last || document.activeElement !== document.body) return;
  let [gone, spot] = [last, null];
  for (const record of records) {
    if (![...record.removedNodes].some((node) => node.contains(gone))) continue;
    spot = record;
    gone = record.target;
  }
  // An element that was only moved is connected again.
  if (spot) (last.isConnected ? last : neighbour(spot))?.focus({ preventScroll: true });
}

/** The first control of the next item of the list, else the heading of the part around it, where no key acts. */
function neighbour({ removedNodes, nextSibling, target }) {
  const item = nextSibling?.nodeName === "LI" && [...removedNodes].some(({ nodeName }) => nodeName === "LI") ? nextSibling : null;
  return item?.querySelector(CONTROLS) ?? headingAround(target);
}

function headingAround(element) {
  for (let part = element.closest(PARTS); part; part = part.parentElement?.closest(PARTS)) {
    if (part.nodeName === "DIALOG" && !part.open) break;
    const heading = part.querySelector("h1, h2, h3");
    if (heading) return reachable(heading);
  }
  return document.querySelector("dialog[open]") ? null : reachable(document.querySelector("main h1"));
}

function reachable(heading) {
  if (heading && !heading.hasAttribute("tabindex")) heading.tabIndex = -1;
  return heading;
}
