// The bridge between pro0 and one pi. It reports pi's state in a file and hands pi the lines put into a folder. It asks
// the person before tools run, by the team's permission mode, since pi itself asks for nothing.
//
// PRO0_BRIDGE names the session's folder: bridge.json (settings, read once), state.json (written here), inbox/ and
// answers/ (taken here). A question is answered in pi's dialog or by a file in answers/, whichever comes first.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, readlinkSync, realpathSync, renameSync } from "node:fs";
import { statSync, unlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const READING = ["read", "grep", "find", "ls"];
const EDITING = ["edit", "write"];
const PAUSE = 250;
const MOST = 64; // conversations told of
const LONGEST_NAME = 255; // of a file

export default function (pi) {
  const folder = process.env.PRO0_BRIDGE;
  if (!folder) return;
  const settings = JSON.parse(readFileSync(join(folder, "bridge.json"), "utf8"));
  settings.home = resolve(folder, settings.home);
  const inbox = join(folder, "inbox");
  const answers = join(folder, "answers");
  const now = { state: "starting", session: "", file: "", turns: 0, error: "", note: "", asks: [], settled: {} };
  now.pid = process.pid;
  now.earlier = [];
  attempt(() => {
    // pi loads its extensions anew for /new, /resume, /fork and /reload: what was before has been all the same
    const before = JSON.parse(readFileSync(join(folder, "state.json"), "utf8"));
    if (before.pid !== now.pid) return;
    now.turns = before.turns;
    now.earlier = [...new Set([...(before.earlier ?? []), before.session])].filter(Boolean).slice(-MOST);
  });
  let timer;
  let unwritten = false;

  function become(change) {
    Object.assign(now, change);
    unwritten = true;
    attempt(write);
  }

  // a full disk: the timer tries again
  function write() {
    if (!unwritten) return;
    const temporary = join(folder, "state.new");
    writeFileSync(temporary, JSON.stringify(now), { mode: 0o600 });
    renameSync(temporary, join(folder, "state.json"));
    unwritten = false;
  }

  function handOver() {
    for (const name of readdirSync(inbox).sort()) {
      const path = join(inbox, name);
      const text = readFileSync(path, "utf8");
      unlinkSync(path); // removed first: no line may be handed over twice
      pi.sendUserMessage(text, { deliverAs: "steer" }); // in a turn it comes after the tools that run
    }
  }

  const lacking = lacks(pi);
  become(lacking ? { state: "unsupported", note: `this pi offers its extensions no ${lacking}` } : {});
  if (lacking) throw new Error(now.note); // without the bridge pi would run every tool unasked

  pi.on("session_start", (_event, context) => {
    for (const place of [inbox, answers]) attempt(() => mkdirSync(place, { recursive: true, mode: 0o700 }));
    const sessions = context.sessionManager;
    become({ state: "idle", session: sessions.getSessionId(), file: sessions.getSessionFile() ?? "", error: "" });
    timer = setInterval(() => [write, handOver].forEach(attempt), PAUSE);
  });
  pi.on("session_shutdown", () => clearInterval(timer));
  pi.on("agent_start", () => become({ state: "working", turns: now.turns + 1, error: "", note: "" }));
  pi.on("agent_end", (event) => become({ state: "idle", error: failure(event.messages), note: "" }));
  pi.on("tool_call", async (event, context) => {
    const verdict = judge(settings, event.toolName, event.input);
    if (verdict === "allow") return undefined;
    const answer = verdict === "ask" && context.hasUI ? await asked(event, context) : { choice: "deny" };
    if (answer.choice === "allow") return undefined;
    return { block: true, reason: answer.text || settings.refusals[verdict] };
  });

  // the first answer, from pi's own dialog or from elsewhere
  async function asked(event, context) {
    const { toolName, toolCallId, input } = event;
    const [dialog, over] = [new AbortController(), { elsewhere: false }];
    const request = { key: toolCallId ?? String(process.hrtime.bigint()), tool: toolName, input: JSON.stringify(input) };
    become({ state: "waiting", note: toolName, asks: [...now.asks, request] });
    const here = context.ui.confirm(`Allow ${toolName}?`, described(input), { signal: dialog.signal });
    const answer = await Promise.race([
      here.then((yes) => ({ choice: yes ? "allow" : "deny" })),
      new Promise((done) => {
        over.timer = setInterval(() => attempt(() => takeAnswer(request.key, over, done)), PAUSE);
      }),
    ]);
    clearInterval(over.timer);
    dialog.abort();
    const asks = now.asks.filter((one) => one !== request);
    const settled = { key: request.key, elsewhere: over.elsewhere };
    become({ state: asks.length ? "waiting" : "working", note: asks[0]?.tool ?? "", asks, settled });
    return answer;
  }

  function takeAnswer(key, over, done) {
    const path = join(answers, nameOf(key));
    const answer = JSON.parse(readFileSync(path, "utf8"));
    over.elsewhere = true;
    unlinkSync(path);
    done(answer);
  }
}

// the name of an answer's file: some providers give ids that are too long for one
function nameOf(key) {
  const name = Buffer.from(key).toString("hex");
  return name.length <= LONGEST_NAME ? name : createHash("sha256").update(key).digest("hex");
}

// the first function this pi lacks and the bridge needs, empty for none
export function lacks(pi) {
  return ["on", "sendUserMessage"].find((name) => typeof pi[name] !== "function") ?? "";
}

// allow, ask, or the name of a refusal
export function judge({ mode, delegates, commands, home }, tool, input) {
  const command = tool === "bash" ? ownCommand(input.command) : "";
  if (READING.includes(tool) || commands.includes(command)) return "allow";
  if (delegates) return command ? "allow" : "delegates";
  if (mode === "bypass") return "allow";
  // what is written there can answer for the person
  if (EDITING.includes(tool) && home && isBelow(home, input.path)) return mode === "plan" ? "plan" : "ask";
  if (EDITING.includes(tool) && mode !== "ask") return mode === "edits" ? "allow" : "plan";
  return "ask";
}

// true for a path below a folder, whatever links lead there, also in other letters where case does not count
function isBelow(folder, path) {
  const [name, identity] = [resolved(folder), identityOf(folder)];
  return [String(path), expanded(String(path))].some((one) => {
    const real = resolved(resolve(one));
    if (real === name || real.startsWith(name + sep)) return true;
    return identity !== "" && [real, ...above(real)].some((place) => identityOf(place) === identity);
  });
}

// a path as pi's tools read it; some versions read less into it, so the path as it stands counts too
function expanded(path) {
  const plain = path.replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ").replace(/^@/, "");
  if (plain.startsWith("file://")) return attempt(() => fileURLToPath(plain)) ?? plain;
  return plain === "~" || plain.startsWith("~/") ? homedir() + plain.slice(1) : plain;
}

function resolved(path, links = 40) {
  const real = attempt(() => realpathSync(path));
  const parent = dirname(path);
  if (real !== undefined || parent === path) return real ?? path;
  const target = links > 0 ? attempt(() => readlinkSync(path)) : undefined; // a write follows a link to nothing yet
  const place = resolved(parent, links);
  return target === undefined ? join(place, basename(path)) : resolved(resolve(place, target), links - 1);
}

function above(path) {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...above(parent)];
}

function identityOf(path) {
  const status = attempt(() => statSync(path, { bigint: true }));
  return status ? `${status.dev} ${status.ino}` : "";
}

// The one pro0 command run by a line; empty when the line runs anything else too.
function ownCommand(line) {
  const bare = String(line).replace(/'[^']*'|"[^"$`\\]*"/g, "''");
  const found = /^\s*pro0 ([a-z]+)(?: [^;&|`$<>()\n\\#"]*)?$/.exec(bare.replaceAll("''", ""));
  return found && !found[0].includes("'") ? found[1] : "";
}

function failure(messages) {
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.stopReason === "error" ? (last.errorMessage ?? "error") : "";
}

function described(input) {
  return String(input.command ?? input.path ?? JSON.stringify(input));
}

function attempt(act) {
  try {
    return act();
  } catch {
    return undefined; // the folder is gone, or another writer was faster: the next call tries again
  }
}
