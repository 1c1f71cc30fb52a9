/** One WebSocket of JSON-RPC 2.0 that comes back by itself, and goes on with its subscriptions where they were. */
import { signal } from "../vendor/signals.js";
import { protocols } from "./device.js";
import { ask, whenBack } from "./silence.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;
/** Why the server cuts a page off that it has accepted to tell it so, by the code of the WebSocket. */
const TURNED_AWAY = { 1013: "full", 1011: "trouble" };

/** An error that a method answered with: `hint` is the next step. */
export class RpcError extends Error {
  constructor({ message, data, code }) {
    super(message);
    this.code = data?.code ?? String(code ?? "");
    this.hint = data?.hint ?? "";
  }
}

async function reachable() {
  try {
    return (await fetch("./manifest.webmanifest", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

const CUT = { message: "the connection was cut before the answer came", data: { code: "cut", hint: "look whether it was done, then try again" } };

export class Connection {
  /** @param {string} path of the server, such as /rpc/alpha */
  constructor(path) {
    this.path = path;
    /**
     * "connecting", "open", "lost", "refused" while the server is there and does not let this browser in, "full" while
     * it lets in no more pages, or "trouble" while it cannot say whether it lets this browser in.
     */
    this.state = signal("connecting");
    /** True while a list that was there cannot be read again: what it shows may be old. */
    this.behind = signal(false);
    this.subscriptions = new Set();
    this.calls = new Map();
    this.progress = new Map();
    this.number = 0;
    this.wait = FIRST_WAIT;
    this.heard = 0;
    this.away = whenBack(() => (this.timer ? this.open() : this.ask()));
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.timer = 0;
    const socket = new WebSocket(new URL(this.path, location.href.replace(/^http/, "ws")), protocols());
    this.socket = socket;
    socket.onopen = () => this.opened();
    socket.onmessage = ({ data }) => this.receive(JSON.parse(data));
    socket.onclose = ({ code }) => this.socket === socket && this.lost(TURNED_AWAY[code]);
  }

  /** Ask whether the other end is still there. What is no call is refused at once, also while a call is done that takes long. */
  ask() {
    ask(this.socket, { jsonrpc: "2.0", id: 0 }, () => this.heard, () => this.lost());
  }

  opened() {
    this.wait = FIRST_WAIT;
    // A server that is full accepts, and cuts off at once: only an answer shows that it is full no more.
    if (!this.isTurnedAway) this.state.value = "open";
    for (const subscription of this.subscriptions) this.follow(subscription);
  }

  get isTurnedAway() {
    return Object.values(TURNED_AWAY).includes(this.state.value);
  }

  /** @param {string} why the server has turned it away, where it has */
  async lost(why = "") {
    for (const { reject } of this.calls.values()) reject(new RpcError(CUT));
    this.calls.clear();
    if (this.closed) return;
    if (why) [this.state.value, this.wait] = [why, LONGEST_WAIT];
    else if (this.state.value === "open") this.state.value = "lost";
    else this.state.value = (await reachable()) ? "refused" : "lost";
    if (this.closed) return;
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  /** True while calls can be sent. The state says it later where the server was full. */
  get there() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.away();
    this.socket.close();
  }

  /**
   * Call a method; `told` takes the steps of one that takes long.
   * @returns {Promise<any>} its result; rejected with an RpcError
   */
  call(method, params = {}, told = undefined) {
    if (!this.there) {
      return Promise.reject(new RpcError({ message: "the server cannot be reached now", data: { code: "cut", hint: "it is tried again by itself" } }));
    }
    const id = ++this.number;
    if (told) {
      params = { ...params, workDoneToken: id };
      this.progress.set(id, told);
    }
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    }).finally(() => this.progress.delete(id));
  }

  /**
   * Follow a list such as "task.list": `start` takes all of it, `change` each change; after a cut that lost something
   * both again. `failed` takes why it cannot be followed now, and null once it can. Returns what ends it.
   */
  subscribe(name, params, start, change, failed) {
    const subscription = { name, params, start, change, failed, last: {} };
    this.subscriptions.add(subscription);
    if (this.there) this.follow(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      this.note(subscription, null);
      this.unfollow(subscription);
    };
  }

  unfollow({ name, last: { id } }) {
    if (id && this.there) this.call(`${name}.unsubscribe`, { id }).catch(() => {});
  }

  note(subscription, error) {
    if (subscription.error || error) subscription.failed(error);
    subscription.error = error;
    this.behind.value = [...this.subscriptions].some(({ error: why, last }) => why && last.id);
  }

  async follow(subscription, wait = FIRST_WAIT) {
    const { name, params, start, last } = subscription;
    const { socket } = this;
    try {
      const answer = await this.call(`${name}.subscribe`, { ...params, ...last });
      if (answer.id === last.id) return this.note(subscription, null);
      subscription.last = { id: answer.id, seq: 0 };
      // It was ended before the answer came, when it had no name yet by which it could be ended.
      if (!this.subscriptions.has(subscription)) return this.unfollow(subscription);
      start(Object.values(answer).find(Array.isArray));
      this.note(subscription, null);
    } catch (error) {
      if (error.code === "cut" || !this.subscriptions.has(subscription)) return;
      this.note(subscription, error);
      const again = () => this.subscriptions.has(subscription) && this.socket === socket && this.there;
      setTimeout(() => again() && this.follow(subscription, Math.min(2 * wait, LONGEST_WAIT)), wait);
    }
  }

  receive(message) {
    this.heard += 1;
    if (this.isTurnedAway) this.state.value = "open";
    if (message.id !== undefined) {
      const call = this.calls.get(message.id);
      this.calls.delete(message.id);
      if (message.error) call?.reject(new RpcError(message.error));
      else call?.resolve(message.result);
    } else if (message.method === "$/progress") {
      const { token, value } = message.params;
      this.progress.get(token)?.(value.message || value.title || "");
    } else {
      this.changed(message.method, message.params);
    }
  }

  changed(method, { id, seq, operation, ...rest }) {
    for (const subscription of this.subscriptions) {
      const { name, last } = subscription;
      if (`${name}.changed` !== method || id !== last.id || seq <= last.seq) continue;
      last.seq = seq;
      const values = Object.values(rest);
      if (operation === "delete") subscription.change(values.find((value) => typeof value === "string") ?? null, null);
      else subscription.change(null, values.find((value) => value && typeof value === "object"));
    }
  }
}
