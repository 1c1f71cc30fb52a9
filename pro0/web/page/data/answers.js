/** How each kind of need is answered on the page: its buttons, and the texts that they ask for. */

const stamp = (need) => need.id.split(":").slice(2).join(":");
const gate = [
  { label: "Approve", primary: true, done: "approved", text: "optional", call: (need, said) => ["task.approve", { task_id: need.subject, said }] },
  { label: "Send back", text: "required", field: "What is wrong", done: "sent back", call: (need, feedback) => ["task.reject", { task_id: need.subject, feedback }] },
];
const close = { label: "Close it", done: "closed", call: (need) => ["task.close", { task_id: need.subject }] };
const goOn = { label: "Continue", text: "optional", field: "Message to its session", done: "continued", call: (need, said) => ["task.continue", { task_id: need.subject, said }] };
const retry = { label: "Retry", primary: true, text: "optional", field: "Message to the next session", done: "retried", call: (need, said) => ["task.retry", { task_id: need.subject, said }] };
const again = { label: "Start again", primary: true, done: "started", call: (need) => ["member.restart", { name: need.subject }] };
const seen = { label: "Seen", primary: true, done: "seen", call: (need) => ["need.seen", { id: stamp(need) }] };
const answer = (choice, label, more) => ({ choice, label, done: "answered", call: (need, said) => ["permission.answer", { id: need.request, choice, ...(said ? { said } : {}) }], ...more });
const terminal = { label: "Open its terminal", primary: true, go: (need) => ["member", need.member] };
const showTask = { label: "Show", go: (need) => ["tree", need.subject] };

/** Subject of a need of mail → its thread, where that has another name: notices have several. */
const MAIL_OF = { pro0: "", human: "lead" };

/** Kind of need → its answers, the usual one first. After an answer with `stays`, the need may remain. */
export const ANSWERS = {
  permission: [terminal],
  dialog: [terminal],
  error: [terminal],
  lost: [terminal],
  question: [
    { label: "Answer", primary: true, text: "required", field: "Your answer", done: "answered", call: (need, said) => ["task.approve", { task_id: need.subject, said }] },
    close,
  ],
  plan: [
    { label: "Approve the plan", primary: true, done: "the plan is approved", call: (need) => ["plan.approve", { name: need.subject, about: need.request }] },
    { label: "Ask for another", text: "required", field: "What is wrong with it", done: "asked for another plan", call: (need, feedback) => ["plan.reject", { name: need.subject, feedback, about: need.request }] },
  ],
  gate: gate,
  review: gate,
  escalation: [...gate, goOn, close],
  crash: [again],
  "not started": [again],
  unresponsive: [{ label: "End it", danger: true, stays: true, done: "it is being ended", call: (need) => ["member.shutdown", { name: need.subject, force: true }] }, terminal],
  unreachable: [terminal],
  failed: [retry, goOn, close],
  stuck: [{ label: "Start without them", primary: true, done: "it no longer waits for them", call: (need) => ["task.update", { task_id: need.subject, drop_dependencies: stamp(need).split(",") }] }, showTask],
  stalled: [{ label: "Start", primary: true, done: "started", call: (need) => ["task.start", { task_id: need.subject }] }, showTask],
  untaken: [{ label: "Start a member", primary: true, go: () => ["member"] }, showTask],
  "idle claim": [
    { label: "Ask", primary: true, stays: true, text: "required", field: "Your message", done: "asked", call: (need, content) => ["message.send", { to: need.member, content }] },
    { label: "Take it back", done: "taken back", call: (need) => ["task.release", { task_id: need.subject }] },
  ],
  cost: [{ label: "Set the limit", primary: true, stays: true, text: "required", number: true, field: "US dollars, 0 for no limit", done: "the limit is set", call: (_, usd) => ["team.limit", { usd: Number(usd) }] }],
  mail: [{ label: "Read", primary: true, go: ({ subject }) => ["messages", MAIL_OF[subject] ?? subject] }],
  "no lead": [],
  "own agent": [{ label: "Read its mail", primary: true, go: () => ["messages"] }],
  hook: [seen],
  notice: [seen],
  worktree: [seen],
  losses: [seen],
};

const PERMISSION = [
  answer("allow", "Allow", { primary: true }),
  answer("always", "Always allow"),
  answer("deny", "Deny"),
  answer("deny", "Deny and say why", { text: "required", field: "Why not" }),
  { ...terminal, primary: false },
];

/** The answers to a need, the usual one first. A permission has only the answers that its agent accepts. */
export function answersOf(need, request) {
  if (need.subject === "archive" || (need.kind === "permission" && !need.member)) return [];
  if (need.kind === "permission" && need.request) return PERMISSION.filter(({ choice }) => !choice || request.choices.includes(choice));
  return ANSWERS[need.kind] ?? [];
}
