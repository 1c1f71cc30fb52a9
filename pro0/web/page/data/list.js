/** A list that stays current, as a signal of its items by key. Changes that arrive together are shown together. */
import { signal } from "../vendor/signals.js";

const LONGEST = 5000;

export class List {
  /** @param {(item: object) => string} key */
  constructor(connection, name, key, params = {}) {
    this.items = signal(new Map());
    /** False until the list is loaded for the first time. */
    this.ready = signal(false);
    this.error = signal(null);
    this.key = key;
    this.waiting = [];
    /** Ends the subscription. */
    this.close = connection.subscribe(name, params, (items) => this.start(items), (gone, item) => this.change(gone, item), (error) => (this.error.value = error));
  }

  get all() {
    return [...this.items.value.values()];
  }

  get(key) {
    return this.items.value.get(key);
  }

  /** Wait a few seconds at most until `fits` is true: a person who is told of a change may look for it at once. */
  async until(fits) {
    if (!this.ready.value || this.error.value || fits()) return;
    let end = null;
    const fitting = new Promise((resolve) => (end = this.items.subscribe(() => fits() && resolve())));
    await Promise.race([fitting, new Promise((resolve) => setTimeout(resolve, LONGEST))]);
    end();
  }

  start(items) {
    this.waiting = [];
    this.items.value = new Map(items.map((item) => [this.key(item), item]));
    this.ready.value = true;
  }

  change(gone, item) {
    this.waiting.push([gone, item]);
    if (this.waiting.length === 1) setTimeout(() => this.flush(), 0);
  }

  flush() {
    if (!this.waiting.length) return;
    const items = new Map(this.items.value);
    for (const [gone, item] of this.waiting) {
      if (item) items.set(this.key(item), item);
      else items.delete(gone);
    }
    this.waiting = [];
    this.items.value = items;
  }
}
