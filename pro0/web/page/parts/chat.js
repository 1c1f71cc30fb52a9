/** The chat of a session: what its agent was told, said and did, its mail, and the comments on its task. */
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { List } from "../data/list.js";
import { team } from "../data/team.js";
import { words } from "../data/words.js";
import { Empty, Field, Form, Loading, Since, State, cleared } from "./common.js";
import { complain } from "./notices.js";
import { Text } from "./shown.js";
import { useNewest } from "./stretches.js";

const SHOWN = 200;
const WHO = { first: "first prompt", prompt: "prompt", remark: "about its task", review: "about its subtasks" };

export function Chat({ session, over = false }) {
  const own = team.value;
  const [shown, setShown] = useState(SHOWN);
  const list = useMemo(() => new List(own.connection, "session.chat", (item) => item.id, { session_id: session }), [own, session]);
  // A layout effect: a plain one may not have run yet when the chat is left, and would then never close the list.
  useLayoutEffect(() => list.close, [list]);
  const box = useRef(null);
  const items = list.all.sort(byTime);
  const adding = useNewest(box, isAtEnd, goToEnd);
  if (!list.ready.value) return html`<${Loading} list=${list} />`;
  const send = async ({ content }, form) => {
    adding();
    const sent = await own.call("session.chat.send", { session_id: session, content });
    await list.until(() => list.get(`m-${sent.id}`));
    cleared(form, "content", content);
  };
  return html`<div class="stack">
    <div class="chat" ref=${box} tabindex="0" role="log" aria-label="Chat">
      ${!items.length && html`<${Empty} title="Nothing was said yet">What the agent says and does is shown here.<//>`}
      ${items.length > shown && html`<button type="button" class="act" onClick=${() => setShown(shown + SHOWN)}>Show earlier ones</button>`}
      <ol class="thread">${items.slice(-shown).map((item) => html`<${Item} key=${item.id} item=${item} session=${session} />`)}</ol>
    </div>
    ${!over && html`<${Form} label="Send" send=${send} done="sent"><${Field} label="To this session" name="content" area rows="2" required /><//>`}
  </div>`;
}

const NEAR = 8; // pixels
const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < NEAR;
const goToEnd = (box) => box.scrollTo({ top: box.scrollHeight });

const byTime = (one, other) => one.at.localeCompare(other.at);

function Item({ item, session }) {
  const own = team.value;
  const [whole, setWhole] = useState(null);
  const [open, setOpen] = useState(false);
  const isMail = item.id.startsWith("m-");
  const load = () => {
    const asked = isMail ? own.call("message.show", { id: item.id.replace(/^m-/, "") }) : own.call("session.chat.show", { session_id: session, item_id: item.id });
    asked.then(setWhole, (error) => (complain(error), setOpen(false)));
  };
  // A new object replaces the item when its tool ends or its answer grows. Its open details are then loaded again.
  useEffect(() => void (open && load()), [open, item]);
  const head = html`<p class="row wrap small soft"><strong>${item.author || WHO[item.type]}</strong>${item.to && html`<span>to ${item.to}</span>`}
    ${WHO[item.type] && item.author && html`<span>${WHO[item.type]}</span>`}${item.act && html`<span class="tag">${words(item.act)}</span>`}<${Since} at=${item.at} /></p>`;
  if (item.type === "tool") {
    return html`<li class="tool"><details onToggle=${(event) => setOpen(event.target.open)}>
      <summary class="row wrap"><${State} word=${item.state || "done"} /><code>${item.text}</code></summary>
      ${whole && html`<${Text} text=${printed(whole.arguments)} label="Arguments" /><${Text} text=${printed(whole.result)} label="Result" />`}</details></li>`;
  }
  return html`<li class=${`${item.type} ${item.author === "human" ? "mine" : ""} ${item.state === "failed" ? "broken" : ""}`}>${head}
    <${Text} text=${whole?.content ?? whole?.text ?? item.text} label=${item.author ? `${item.type} of ${item.author}` : WHO[item.type]} />
    ${item.cut && !whole && html`<button type="button" class="act" onClick=${() => setOpen(true)}>Show all of it</button>`}</li>`;
}

const printed = (value) => (typeof value === "string" ? value : value == null ? "" : JSON.stringify(value, null, 2));
