/** The page's data about one team: its lists, and calls of its methods. */
import { computed, signal } from "../vendor/signals.js";
import { arrived } from "./arrival.js";
import { Connection } from "./connection.js";
import { List } from "./list.js";
import { URGENCY } from "./words.js";

export class Team {
  constructor(name) {
    this.name = name;
    this.connection = new Connection(`/rpc/${encodeURIComponent(name)}`);
    // Needs are subscribed to first, so that tasks are at least as current as the needs about them.
    this.needs = new List(this.connection, "need.list", (need) => need.id);
    this.tasks = new List(this.connection, "task.list", (task) => task.id);
    this.members = new List(this.connection, "member.list", (member) => member.agent_id);
    this.roles = signal([]);
    this.later = {};
    /** Id → the permission request, or the error that kept it from loading. */
    this.requests = signal({});
    /** The needs, the most urgent first. */
    this.urgent = computed(() => this.needs.all.sort(byUrgency));
    /** Task → its subtasks, in their order; "" has the roots. */
    this.children = computed(() => children(this.tasks));
  }

  /** The messages that the person may read. */
  get messages() {
    return (this.later.messages ??= new List(this.connection, "message.list", (message) => message.id));
  }

  /** What happened lately. */
  get events() {
    return (this.later.events ??= new List(this.connection, "event.list", (event) => event.id));
  }

  /** What each member has used. */
  get costs() {
    return (this.later.costs ??= new List(this.connection, "cost.list", (cost) => cost.agent_id));
  }

  /** Call a method, and return its answer once the lists show the change. */
  async call(method, params, told) {
    const answer = await around.call((...words) => this.connection.call(...words), method, params, told);
    await arrived(this, method, params, answer);
    return answer;
  }

  /**
   * Load a permission request; the server omits values that are the default. If loading fails, the error is stored in
   * its place, and `whole` is false so that it is tried again, unless the request does not exist any more.
   */
  async loadRequest(id) {
    const known = (entry) => (this.requests.value = { ...this.requests.value, [id]: { choices: ["allow", "deny"], ...entry } });
    await this.call("permission.show", { id }).then((request) => known({ ...request, whole: true }), (error) => {
      const whole = error.code === "not_found";
      if (error.code !== "cut") known({ tool: error.message, input: "", choices: [], whole });
      if (!whole) throw error;
    });
  }

  async loadRoles() {
    this.roles.value = (await this.call("agent.role.list")).roles;
  }

  close() {
    this.connection.close();
  }
}

/** A wrapper around every call. The page sets one that asks for the PIN. */
export const around = { call: (call, ...words) => call(...words) };

/** The team that is shown; null before one is chosen. */
export const team = signal(null);

export function openTeam(name) {
  if (team.value?.name === name) return;
  team.value?.close();
  team.value = name ? new Team(name) : null;
}

function byUrgency(one, other) {
  return URGENCY.indexOf(one.kind) - URGENCY.indexOf(other.kind) || (one.since ?? "9").localeCompare(other.since ?? "9");
}

/** The number of an id such as task-12. */
export const number = (id) => Number(id.slice(id.lastIndexOf("-") + 1)) || 0;

/** True when the searched fields of a task contain these words, which are in lower case. */
export const found = (task, words) => [task.id, task.title, task.role_id, task.assignee, task.claimed_by, ...(task.labels ?? [])].join(" ").toLowerCase().includes(words);

export const byPriority = (one, other) => one.priority - other.priority || number(one.id) - number(other.id);

function children(tasks) {
  const found = new Map();
  for (const task of tasks.all) {
    const parent = tasks.get(task.parent_id) ? task.parent_id : "";
    if (!found.has(parent)) found.set(parent, []);
    found.get(parent).push(task);
  }
  for (const siblings of found.values()) siblings.sort(byPriority);
  return found;
}
