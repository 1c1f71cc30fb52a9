/** The words and colours of states: the same meanings as pro0/terminals/colours.py. */

/** Kinds of need in the order of urgency, as pro0/model/need.py has them. */
export const URGENCY = [
  "no lead", "own agent", "permission", "dialog", "question", "plan", "gate", "review", "escalation", "crash", "not started",
  "worktree", "lost", "error", "unresponsive", "unreachable", "failed", "stuck", "stalled", "untaken", "idle claim", "cost", "limit",
  "mail", "hook", "notice", "losses",
];

const TONES = {
  red: ["no lead", "crashed", "failed", "unresponsive", "unreachable", "error", "gone", "crash", "not started", "lost", "losses", "hook", "notice", "worktree"],
  green: ["working", "running", "in_progress", "ok"],
  cyan: ["starting", "stopping"],
  asks: [
    "waiting", "dialog", "draft", "needs_review", "permission", "question", "plan", "gate", "review", "escalation",
    "own agent", "stuck", "stalled", "untaken", "idle claim", "cost", "limit", "mail",
  ],
  dim: ["closed", "done", "exited", "shutdown", "stopped"],
};
const TONE_OF = Object.fromEntries(Object.entries(TONES).flatMap(([tone, words]) => words.map((word) => [word, tone])));

/** The colour of a state, a status or a kind: red, green, cyan, asks, dim, or plain. */
export const tone = (word) => TONE_OF[word] ?? "plain";

export const words = (status) => status.replaceAll("_", " ");

/** State of the connection → why the server does not let this page in now. */
export const TURNED_AWAY = {
  full: "Too many pages are open: close some.",
  trouble: "The server cannot let this page in: its terminal says why.",
};

/** States of a member that has ended. */
export const ENDED = ["shutdown", "exited", "crashed"];

/** The columns of the board: a title, and the statuses in it. */
export const COLUMNS = [
  ["Open", ["open"]],
  ["In progress", ["in_progress"]],
  ["Needs review", ["needs_review"]],
  ["Failed", ["failed"]],
  ["Done", ["done", "closed"]],
];

/** The cost of a member or of all; where a part has no known price, the rest of it. */
export const costOf = ({ cost_usd, known_usd }) => (cost_usd == null && known_usd ? `at least ${money(known_usd)}` : money(cost_usd));

export const money = (usd) => (usd == null ? "unknown" : `$${usd.toFixed(2)}`);

export const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
