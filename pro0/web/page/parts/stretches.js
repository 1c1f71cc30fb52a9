/** Long lists: an item is drawn anew when it has changed, and of very many only what is near the screen is drawn. */
import { html } from "../html.js";
import { useLayoutEffect, useRef, useState } from "../vendor/hooks.js";

/** Up to so many items a list is drawn whole, for who reads it by ear or looks through it with the browser. */
export const WHOLE = 200;
const LENGTH = 25;

/** A part that is drawn anew only when what it is given is another, or a signal that it reads has changed. */
export function kept(part) {
  return function Kept(props) {
    this.shouldComponentUpdate = differs;
    return html`<${part} ...${props} />`;
  };
}

function differs(next) {
  return Object.keys({ ...this.props, ...next }).some((name) => this.props[name] !== next[name]);
}

/** A list of items, drawn by `draw`; of a long one in stretches. `height` of an item, in rem, is a guess. */
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
        // What has the focus stays, else the next key would begin at the top.
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
