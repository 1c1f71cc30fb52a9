/** Who works by keys keeps a place: the focus of what goes away falls to its neighbour, and not out of the page. */

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]";
const PARTS = "li, aside, section, dialog, main";

let last = null;

/** Watch what has the focus, from now on. */
export function keepFocus() {
  addEventListener("focusin", ({ target }) => (last = target));
  // Who leaves it for nothing, as by a click beside all controls, has left it; what is taken away has not.
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
  // What was only moved is there again.
  if (spot) (last.isConnected ? last : neighbour(spot))?.focus({ preventScroll: true });
}

/** The first control of the next item of the same list; else the heading of what is around it, on which no key acts. */
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
