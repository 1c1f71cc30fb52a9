/** The frame around every screen: the navigation, news, and the state of the connection. */
import { html } from "../html.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";
import { place, route } from "../data/route.js";
import { team } from "../data/team.js";
import { SCREENS } from "../screens/table.js";
import { Cut } from "./common.js";
import { closeDialog, openDialog } from "./dialog.js";
import { Icon } from "./icons.js";
import { openPalette } from "./palette.js";

const MOST = 99;

export function Frame({ children }) {
  const { screen } = route.value;
  const current = SCREENS.find(({ name }) => name === screen);
  const count = team.value?.needs.items.value.size ?? 0;
  useEffect(() => {
    navigator.setAppBadge?.(count).catch(() => {}); // for the installed page, on systems that show badges
    document.title = `${count ? `(${count}) ` : ""}${current?.title ?? "pro0"} · ${team.value?.name ?? "pro0"}`;
  }, [count, current, team.value]);
  return html`<a class="skip" href="#main" onClick=${skip}>To the content</a>
    <div class="frame">
      <header class="top"><${Brand} /><${Search} /></header>
      <nav class="side" aria-label="Screens">
        <${Brand} /><${Search} />
        <ul>${SCREENS.map((one) => html`<${Link} key=${one.name} of=${one} />`)}</ul>
      </nav>
      <main id="main" tabindex="-1"><${Cut} connection=${team.value?.connection} /><${News} />${children}</main>
      <nav class="tabs" aria-label="Main screens">
        <ul>${SCREENS.filter(({ often }) => often).map((one) => html`<${Link} key=${one.name} of=${one} />`)}
          ${SCREENS.some(({ often }) => !often) && html`<li><button type="button" aria-haspopup="dialog" onClick=${more}><${Icon} name="more" /><span>More</span></button></li>`}
        </ul>
      </nav>
    </div>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

const Brand = () => html`<a class="brand" href="#/" title="Choose another team">${team.value?.name ?? "pro0"}</a>`;

const Search = () => html`<button type="button" class="search" aria-haspopup="dialog" aria-keyshortcuts="Control+K" onClick=${openPalette}>
  <${Icon} name="search" /><span>Go to …</span><kbd>Ctrl K</kbd></button>`;

function Link({ of: { name, title } }) {
  const here = route.value.screen === name;
  const count = name === "needs" ? team.value?.needs.items.value.size : 0;
  return html`<li><a href=${place(name)} aria-current=${here ? "page" : undefined} onClick=${closeDialog}>
    <${Icon} name=${name} /><span>${title}</span>${count > 0 && html`<span class="count asks">${count > MOST ? `${MOST}+` : count}<span class="sr"> things</span></span>`}</a></li>`;
}

function more() {
  openDialog("More", () => html`<nav aria-label="All screens" class="all"><ul>${SCREENS.map((one) => html`<${Link} key=${one.name} of=${one} />`)}</ul></nav>`);
}

/** Announces new needs to screen readers. Other people see the count. */
function News() {
  const { needs } = team.value;
  const known = useRef(null);
  const [told, setTold] = useState("");
  useEffect(() => {
    if (!needs.ready.value) return;
    const before = known.current?.of === needs ? known.current.ids : null;
    const fresh = needs.all.filter(({ id }) => before && !before.has(id));
    known.current = { of: needs, ids: new Set(needs.all.map(({ id }) => id)) };
    if (fresh.length) setTold(fresh.map(({ what }) => what).join(". "));
  }, [needs, needs.items.value, needs.ready.value]);
  return html`<p class="sr" role="status" aria-label="News">${told}</p>`;
}
