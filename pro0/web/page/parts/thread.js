/** The messages between the person and one correspondent, or between two others, and the form for a new one. */
import { html } from "../html.js";
import { useRef, useState } from "../vendor/hooks.js";
import { team } from "../data/team.js";
import { Act, Field, Form, Loading, Since, cleared } from "./common.js";
import { Text } from "./shown.js";
import { useNewest } from "./stretches.js";

export const PERSON = "human";

/** The sender and the receiver of a message. Mail to the person in another mailbox is mail to the person. */
export const endsOf = ({ from, to, yours }) => [from, yours && from !== PERSON ? PERSON : to];

/** These two in one text, the same in both directions. */
export const pairOf = (message) => endsOf(message).sort().join(" and ");

export function Thread({ with: other, pair = [PERSON, other].sort().join(" and ") }) {
  const { messages } = team.value;
  const end = useRef(null);
  const shown = messages.all.filter((message) => pairOf(message) === pair).sort(byTime);
  const adding = useNewest(end, isSeen, (at) => at.scrollIntoView({ block: "nearest" }));
  if (!messages.ready.value) return html`<${Loading} list=${messages} />`;
  // Nobody else reads a mailbox of the person's own.
  const isOwn = shown.some(({ to, yours }) => yours && to === other);
  const send = async ({ content, urgent }, form) => {
    adding();
    await team.value.call("message.send", { to: other, content, urgent: urgent === "on" });
    cleared(form, "content", content);
  };
  return html`<div class="stack">
    <ol class="thread">${shown.map((message) => html`<${Message} key=${message.id} message=${message} />`)}</ol>
    ${!shown.length && html`<p class="soft">No messages yet.</p>`}
    <span ref=${end}></span>
    ${other && !isOwn && html`<${Form} label="Send" send=${send} done=${`sent to ${other}`}>
      <${Field} label=${`To ${other}`} name="content" area rows="2" required />
      <label class="check"><input type="checkbox" name="urgent" /> Urgent</label>
    <//>`}
  </div>`;
}

const isSeen = (at) => at.getBoundingClientRect().top <= innerHeight;

const byTime = (one, other) => one.timestamp.localeCompare(other.timestamp) || one.seq - other.seq;

function Message({ message }) {
  const [whole, setWhole] = useState("");
  const mine = message.from === PERSON;
  const load = () => team.value.call("message.show", { id: message.id }).then(({ content }) => setWhole(content));
  return html`<li class=${mine ? "mine" : ""}>
    <p class="row wrap small soft"><strong>${mine ? "you" : message.from}</strong>${message.to !== PERSON && !mine && html`<span>to ${message.to}</span>`}
      ${message.type !== "message" && html`<span class="tag">${message.type.replaceAll("_", " ")}</span>`}${message.urgent && html`<span class="tag asks">urgent</span>`}
      <${Since} at=${message.timestamp} />${message.read === false && html`<span>${mine ? "not read yet" : "new"}</span>`}</p>
    <${Text} text=${whole || message.content} label=${`Message of ${message.from}`} />
    ${message.cut && !whole && html`<${Act} label="Show all of it" run=${load} />`}
  </li>`;
}
