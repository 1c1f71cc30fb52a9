/** A WebSocket of JSON-RPC 2.0 that reconnects automatically and resumes its subscriptions. */
import { signal } from "../vendor/signals.js";
import { protocols } from "./device.js";
import { ask, whenBack } from "./silence.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;
/** Close code of the WebSocket → why the server accepted this page only to turn it away. */
const TURNED_AWAY = { 1013: "full", 1011: "trouble" };

/** The error answer of a method; `hint` names the next step. */
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

const CUT = { message: "the connection was cut before the answer came", data: { code: "cut", hint: "check whether it was done, then try again" } };

export class Connection {
  /** @param {string} path of the server, such as /rpc/alpha */
  constructor(path) {
    this.path = path;
    /**
     * "connecting", "open" or "lost"; "refused" while the server can be reached and does not let this browser in;
     * "full" while it lets in no more pages; "trouble" while it cannot tell whether this browser may come in.
     */
    this.state = signal("connecting");
    /** True while a list that was loaded before cannot be read again, so that it may be out of date. */
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

  /** Ask whether the server still answers. It refuses a message without a method at once, even during a long call. */
  ask() {
    ask(this.socket, { jsonrpc: "2.0", id: 0 }, () => this.heard, () => this.lost());
  }

  opened() {
    this.wait = FIRST_WAIT;
    // A server that turns pages away accepts them, and closes at once. Only an answer shows that it let this one in.
    if (!this.isTurnedAway) this.state.value = "open";
    for (const subscription of this.subscriptions) this.follow(subscription);
  }

  get isTurnedAway() {
    return Object.values(TURNED_AWAY).includes(this.state.value);
  }

  /** @param {string} why The reason, if the server turned this page away. */
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

  /** True while calls can be sent. After the server was full, the state is "open" only from its first answer on. */
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
   * Call a method; `told` receives the progress of a long call.
   * @returns {Promise<any>} The result of the method. It is rejected with an RpcError.
   */
  call(method, params = {}, told = undefined) {
    if (!this.there) {
      return Promise.reject(new RpcError({ message: "the server cannot be reached now", data: { code: "cut", hint: "this page reconnects automatically" } }));
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
   * Follow a list such as "task.list": `start` receives the whole list, then `change` receives each change. After a
   * cut that lost changes, `start` is called again. `failed` receives the error while the list cannot be followed, and
   * null once it can. Returns a function that ends the subscription.
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
      // The subscription was ended before this answer brought its id, which the server needs to end it.
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
