"""A page on a bad link and a slow phone: what comes over its WebSockets comes late, and so do timers and frames."""

import os

from playwright.sync_api import Page

LATE = os.environ.get("PRO0_TEST_LATE", "")
"""A seed with which every page of the tests is a late one."""
SLOWER = 5
"""How many times slower than this machine's the processor of a late page is."""
LINK = 400
TIMER = 100
"""Milliseconds by which a message and a timer come late, at most."""

HOLD = """
globalThis.link = { held: null, asked: new Set(), late: () => 0, wait: setTimeout.bind(globalThis) };
link.hold = (pattern = /"method": ?"[a-z.]+[.]changed"/) => {
  link.pattern = pattern;
  link.held = [];
};
link.free = () => {
  for (const [socket, event] of link.held) socket.later(event);
  link.held = null;
};
globalThis.WebSocket = class extends WebSocket {
  #waiting = [];
  #handlers = {};
  constructor(...words) {
    super(...words);
    for (const type of ["message", "close"]) super.addEventListener(type, (event) => this.#came(event));
  }
  set onmessage(handler) { this.#handlers.message = handler; }
  set onclose(handler) { this.#handlers.close = handler; }
  send(data) {
    if (typeof data === "string" && JSON.parse(data).method) link.asked.add(this.#call(data));
    super.send(data);
  }
  #call(data) { return `${this.url} ${JSON.parse(data).id}`; }
  #came(event) {
    if (link.held && event.type === "message" && link.pattern.test(event.data)) link.held.push([this, event]);
    else this.later(event);
  }
  later(event) {
    this.#waiting.push([performance.now() + link.late(), event]);
    if (this.#waiting.length > 1) return;
    if (link.held) link.wait(() => this.#next());
    else this.#next();
  }
  #next() {
    const [due, event] = this.#waiting[0];
    const wait = due - performance.now();
    if (wait > 0) return void link.wait(() => this.#next(), wait);
    this.#handlers[event.type]?.(event);
    if (typeof event.data === "string") link.asked.delete(this.#call(event.data));
    this.#waiting.shift();
    if (this.#waiting.length) link.wait(() => this.#next());
  }
};
"""
"""A link that can hold back what is told of lists, and let it go: the answers to calls come all the same.

Each message is a task of its own, as in a browser: what waits for an answer goes on before the next one comes.
"""

DRAW = """
{
  let seed = SEED;
  const drawn = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  link.late = () => drawn() * LINK;
  const [wait, frame] = [setTimeout, requestAnimationFrame];
  globalThis.setTimeout = (act, after = 0, ...words) => wait(act, after + drawn() * TIMER, ...words);
  const frames = new Map();
  globalThis.requestAnimationFrame = (act) => {
    const id = -frames.size - 1;
    frames.set(id, wait(() => frames.set(id, frame(act)), drawn() * TIMER));
    return id;
  };
  const [drop, cancel] = [clearTimeout, cancelAnimationFrame];
  globalThis.cancelAnimationFrame = (id) => (drop(frames.get(id)), cancel(frames.get(id)));
}
"""
"""Every message, timer and frame comes late by a drawn time, messages in their order."""


def can_hold(page: Page) -> None:
    """Let the tests hold back what the page is told of lists, from the next load on."""
    page.add_init_script(HOLD)


def make_late(page: Page, seed: str) -> None:
    """Make all that comes to a page late, from the next load on."""
    number = sum(seed.encode()) + 1
    script = DRAW.replace("SEED", str(number)).replace("LINK", str(LINK)).replace("TIMER", str(TIMER))
    page.add_init_script(script)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
