// The bridge between pro0 and one pi. It reports pi's state in a file and hands pi the lines put into a folder. It asks
// the person before tools run, by the team's permission mode, since pi itself asks for nothing.
//
// PRO0_BRIDGE names the session's folder: bridge.json (settings, read once), state.json (written here), inbox/ (taken here).

import { mkdirSync, readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const READING = ["read", "grep", "find", "ls"];
const EDITING = ["edit", "write"];
const PAUSE = 250;

export default function (pi) {
  const folder = process.env.PRO0_BRIDGE;
  if (!folder) return;
  const settings = JSON.parse(readFileSync(join(folder, "bridge.json"), "utf8"));
  const inbox = join(folder, "inbox");
  const now = { state: "starting", session: "", file: "", turns: 0, error: "", note: "" };
  let timer;

  function become(change) {
    Object.assign(now, change);
    const temporary = join(folder, "state.new");
    writeFileSync(temporary, JSON.stringify(now), { mode: 0o600 });
    renameSync(temporary, join(folder, "state.json"));
  }

  function handOver() {
    for (const name of readdirSync(inbox).sort()) {
      const path = join(inbox, name);
      const text = readFileSync(path, "utf8");
      unlinkSync(path); // removed first: no line may be handed over twice
      pi.sendUserMessage(text, { deliverAs: "followUp" });
    }
  }

  const lacking = lacks(pi);
  become(lacking ? { state: "unsupported", note: `this pi offers its extensions no ${lacking}` } : {});
  if (lacking) throw new Error(now.note); // without the bridge pi would run every tool unasked

  pi.on("session_start", (_event, context) => {
    mkdirSync(inbox, { recursive: true, mode: 0o700 });
    const sessions = context.sessionManager;
    become({ state: "idle", session: sessions.getSessionId(), file: sessions.getSessionFile() ?? "", error: "" });
    timer = setInterval(() => attempt(handOver), PAUSE);
  });
  pi.on("session_shutdown", () => clearInterval(timer));
  pi.on("agent_start", () => become({ state: "working", turns: now.turns + 1, error: "", note: "" }));
  pi.on("agent_end", (event) => become({ state: "idle", error: failure(event.messages), note: "" }));
  pi.on("tool_call", async (event, context) => {
    const verdict = judge(settings, event.toolName, event.input);
    if (verdict === "allow") return undefined;
    if (verdict === "ask") {
      become({ state: "waiting", note: event.toolName });
      const allowed = context.hasUI && (await context.ui.confirm(`Allow ${event.toolName}?`, described(event.input)));
      become({ state: "working", note: "" });
      if (allowed) return undefined;
    }
    return { block: true, reason: settings.refusals[verdict] };
  });
}

// the first function this pi lacks and the bridge needs, empty for none
export function lacks(pi) {
  return ["on", "sendUserMessage"].find((name) => typeof pi[name] !== "function") ?? "";
}

// allow, ask, or the name of a refusal
export function judge({ mode, delegates, commands }, tool, input) {
  const command = tool === "bash" ? ownCommand(input.command) : "";
  if (READING.includes(tool) || commands.includes(command)) return "allow";
  if (delegates) return command ? "allow" : "delegates";
  if (mode === "bypass") return "allow";
  if (EDITING.includes(tool) && mode !== "ask") return mode === "edits" ? "allow" : "plan";
  return "ask";
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
    act();
  } catch {
    // the folder is gone, or another writer was faster: the next call tries again
  }
}
