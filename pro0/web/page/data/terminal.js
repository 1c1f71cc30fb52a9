/** The connection to one member's terminal. It receives bytes, and sends keys once the keyboard is taken. */
import { signal } from "../vendor/signals.js";
import { protocols } from "./device.js";
import { ask, whenBack } from "./silence.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;
const KEYS_LIMIT = 16_000;
/** The sequence that resets a terminal to its first state, without modes. */
const RESET = new TextEncoder().encode("\x1bc");

export class TerminalConnection {
  /** @param {{write: (bytes: Uint8Array) => void, size: (columns: number, lines: number) => void}} screen */
  constructor(team, member, screen) {
    this.path = `/terminal/${encodeURIComponent(team)}/${encodeURIComponent(member)}`;
    this.screen = screen;
    this.taken = signal(false);
    this.session = signal(null);
    this.refusal = signal(null);
    this.state = signal("connecting");
    this.wait = FIRST_WAIT;
    this.heard = 0;
    this.away = whenBack(() => (this.timer ? this.open() : ask(this.socket, { type: "there" }, () => this.heard, () => this.lost())));
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.timer = 0;
    const socket = new WebSocket(new URL(this.path, location.href.replace(/^http/, "ws")), protocols());
    socket.binaryType = "arraybuffer";
    socket.onopen = () => (this.state.value = "open");
    // On a new connection the server sends a whole screen, and does not know which modes it set before.
    let fresh = true;
    socket.onmessage = ({ data }) => {
      this.heard += 1;
      this.wait = FIRST_WAIT; // not before: a server in trouble accepts a connection and closes it at once
      if (typeof data === "string") return this.told(JSON.parse(data));
      if (fresh) this.screen.write(RESET);
      fresh = false;
      return this.screen.write(new Uint8Array(data));
    };
    socket.onclose = () => this.lost();
    this.socket = socket;
  }

  told(message) {
    if (message.type === "size") this.screen.size(message.columns, message.lines);
    else if (message.type === "session") this.session.value = message;
    else if (message.type === "taken") this.taken.value = message.taken;
    else if (message.type === "refused") this.refusal.value = message;
  }

  lost() {
    this.taken.value = false;
    if (this.closed) return;
    this.state.value = "lost";
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.away();
    this.socket.close();
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  keys(data) {
    for (let at = 0; at < data.length; at += KEYS_LIMIT) this.send({ type: "keys", data: data.slice(at, at + KEYS_LIMIT) });
  }

  take() {
    this.refusal.value = null;
    this.send({ type: "take" });
  }

  leave() {
    this.send({ type: "leave" });
  }

  resize(columns, lines) {
    this.send({ type: "resize", columns, lines });
  }
}
