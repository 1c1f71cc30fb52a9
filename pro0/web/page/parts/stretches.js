/**
 * Long lists: an item is redrawn only after a change, a very long list is drawn only near the screen, and a list that
 * grows keeps its newest item in view.
 */
import { html } from "../html.js";
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";

/** A list of up to this many items is drawn whole, for screen readers and the search of the browser. */
export const WHOLE = 200;
const LENGTH = 25;

/** Return a part that is redrawn only when one of its properties or a signal that it reads has changed. */
export function kept(part) {
  return function Kept(props) {
    this.shouldComponentUpdate = differs;
    return html`<${part} ...${props} />`;
  };
}

function differs(next) {
  return Object.keys({ ...this.props, ...next }).some((name) => this.props[name] !== next[name]);
}

/** A list of items, each drawn by `draw`; a `long` list in stretches. `height` of an item is an estimate in rem. */
export function Stretches({ items, draw, long, height, look = "" }) {
  if (!long) return html`<ul class=${look}>${items.map(draw)}</ul>`;
  const starts = Array.from({ length: Math.ceil(items.length / LENGTH) }, (_, number) => number * LENGTH);
  return html`<div class=${look}>${starts.map((start) => html`<${Stretch} key=${start} items=${items.slice(start, start + LENGTH)} draw=${draw} height=${height} />`)}</div>`;
}

function Stretch({ items, draw, height }) {
  const place = useRef(null);
  const measured = useRef(0);
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    const element = place.current;
    const watch = new IntersectionObserver(
      (changes) => {
        const { isIntersecting } = changes.at(-1);
        // A stretch with the focus stays drawn, otherwise the next key would start at the top of the page.
        if (!isIntersecting && element.contains(document.activeElement)) return;
        if (!isIntersecting && element.children.length) measured.current = element.offsetHeight / element.children.length;
        setNear(isIntersecting);
      },
      { rootMargin: "100%", scrollMargin: "100%" },
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const room = measured.current ? `${measured.current * items.length}px` : `${height * items.length}rem`;
  return html`<ul ref=${place} class="stretch" style=${{ height: near ? "" : room }}>${near && items.map(draw)}</ul>`;
}

/**
 * Keep the newest item of a growing list in view, unless its reader has gone further up. `end` refers to what `isSeen`
 * looks at and `show` brings into view. Return what to call before the reader's own item is added.
 */
export function useNewest(end, isSeen, show) {
  const added = useRef(false);
  // This is measured before the new items are drawn.
  const follows = !end.current || added.current || isSeen(end.current);
  useLayoutEffect(() => {
    if (!follows || !end.current) return;
    show(end.current);
    added.current = false;
  });
  return () => (added.current = true);
}
