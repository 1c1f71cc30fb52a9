/** A member's live terminal. It accepts no keys until the person takes the keyboard. */
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { may } from "../data/device.js";
import { team } from "../data/team.js";
import { TerminalConnection } from "../data/terminal.js";
import { Screen } from "./screen.js";
import { complain } from "./notices.js";

const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const SMALLEST = 9;
const USUAL = 14;
const LINES = 30;
const THEME = {
  background: "#111213", foreground: "#ecebe8", cursor: "#ecebe8", black: "#303235", brightBlack: "#8d9094", white: "#d5d4d1", brightWhite: "#ffffff",
  red: "#ff8d82", green: "#70d18e", yellow: "#f0bf57", blue: "#8ab4f8", magenta: "#d7a3f0", cyan: "#6dcbdd",
  brightRed: "#ffb0a8", brightGreen: "#98e2ae", brightYellow: "#f7d68c", brightBlue: "#b3cffb", brightMagenta: "#e6c4f6", brightCyan: "#9bdfea",
};
const TOUCH = [["Esc", "\x1b"], ["Tab", "\t"], ["Ctrl C", "\x03"], ["↑", "\x1b[A"], ["↓", "\x1b[B"], ["←", "\x1b[D"], ["→", "\x1b[C"], ["Enter", "\r"]];

export function LiveTerminal({ member }) {
  const [text, setText] = useState(false);
  return html`<div class="stack">
    ${text ? html`<${Screen} member=${member} />` : html`<${Live} name=${member.agent_id} />`}
    <label class="check"><input type="checkbox" checked=${text} onChange=${(event) => setText(event.target.checked)} /> As plain text, for screen readers</label>
  </div>`;
}

function Live({ name }) {
  const place = useRef(null);
  const [live, setLive] = useState(null);
  const own = team.value.name;
  useEffect(() => {
    let gone = false;
    let shown = null;
    opened(place.current, own, name).then((one) => {
      shown = one;
      if (gone) one.close();
      else setLive(one);
    }, complain);
    return () => {
      gone = true;
      shown?.close();
    };
  }, [own, name]);
  return html`<div class="keyboard">${live ? html`<${Keyboard} live=${live} />` : html`<p class="soft" role="status">One moment …</p>`}</div>
    <div class="terminal"><div ref=${place} class=${`xterm-place ${live?.connection.taken.value ? "taken" : ""}`}></div></div>`;
}

function Keyboard({ live: { connection, term, fit } }) {
  const taken = connection.taken.value;
  const session = connection.session.value;
  const refusal = connection.refusal.value;
  useLayoutEffect(() => {
    term.options.disableStdin = !taken;
    term.options.cursorBlink = taken;
    if (taken) fit();
    if (taken) term.focus();
  }, [taken]);
  return html`<div class="row wrap">
      ${may("all") && (taken || !session?.over) && html`<button type="button" class=${`act ${taken ? "" : "primary"}`} aria-pressed=${taken} onClick=${() => (taken ? connection.leave() : connection.take())}>${taken ? "Give the keyboard back" : "Take the keyboard"}</button>`}
      ${taken && TOUCH.map(([label, data]) => html`<button key=${label} type="button" class="act" onClick=${() => (connection.keys(data), term.focus())}>${label}</button>`)}
      <span class="soft small" role="status">${connection.state.value === "lost" ? "The terminal is disconnected; this page tries again automatically." : taken ? "What you type goes to the agent. Ctrl+Alt+K gives the keyboard back." : session?.over ? "The session is over: this is its last screen." : ""}</span>
    </div>
    ${refusal && html`<p class="bad" role="alert">${refusal.message}${refusal.hint && `: ${refusal.hint}`}</p>`}`;
}

async function opened(place, own, name) {
  const { Terminal } = await import("../vendor/xterm.js");
  await styled("vendor/xterm.css");
  const term = new Terminal({ fontFamily: MONO, fontSize: USUAL, scrollback: 0, disableStdin: true, theme: THEME, logLevel: "off" });
  term.open(place);
  term.textarea?.setAttribute("aria-label", `Keyboard of ${name}`);
  const size = (columns, lines) => {
    term.options.fontSize = Math.min(USUAL, Math.max(SMALLEST, Math.floor((2 * place.clientWidth) / (columns * letterWidth())) / 2));
    term.resize(columns, lines);
  };
  const connection = new TerminalConnection(own, name, { write: (bytes) => term.write(bytes), size });
  const fit = () => connection.resize(Math.max(20, Math.floor(place.clientWidth / (USUAL * letterWidth()))), LINES);
  const resized = () => (connection.taken.value ? fit() : size(term.cols, term.rows));
  addEventListener("resize", resized);
  term.onData((data) => connection.taken.value && connection.keys(data));
  term.onBinary((data) => connection.taken.value && connection.keys(data));
  term.attachCustomKeyEventHandler((event) => {
    if (!(event.ctrlKey && event.altKey && event.code === "KeyK")) return connection.taken.value;
    connection.leave();
    return false;
  });
  const close = () => {
    removeEventListener("resize", resized);
    connection.close();
    term.dispose();
  };
  return { connection, term, fit, close };
}

/** The width of a letter in a font of one pixel. */
function letterWidth() {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `100px ${MONO}`;
  return context.measureText("M").width / 100;
}

function styled(href) {
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: resolve, onerror: reject });
    document.head.append(link);
  });
}
