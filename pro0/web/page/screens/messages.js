/** Messages: a thread for each pair of correspondents, the person's threads first. */
import { html } from "../html.js";
import { useLayoutEffect } from "../vendor/hooks.js";
import { place, route } from "../data/route.js";
import { team } from "../data/team.js";
import { focusWanted, wanted } from "../data/wish.js";
import { many } from "../data/words.js";
import { Act, Empty, Heading, Loading, Since } from "../parts/common.js";
import { PERSON, Thread, endsOf, pairOf } from "../parts/thread.js";
import { writeToAll } from "../parts/writing.js";

export const MARK = "Mark all as read";

/** True for the person's unread mail, which includes mail to `lead` while there is no lead agent. */
const isUnread = ({ yours, read }) => yours && !read;

/** Mailbox → the number of the newest of these messages in it. */
const newest = (messages) => messages.reduce((found, { to, seq }) => ({ ...found, [to]: Math.max(found[to] ?? 0, seq) }), {});

export function Messages() {
  const own = team.value;
  const { messages } = own;
  const chosen = route.value.item;
  const all = threads(messages.all);
  const unread = messages.all.filter(isUnread);
  // Only the messages that are shown: one that arrives just before the tap stays unread.
  const read = () => own.call("message.acknowledge", { up_to: newest(unread) });
  const wish = wanted("messages");
  useLayoutEffect(() => void (wish && messages.ready.value && focusWanted()), [wish, messages.ready.value]);
  const other = all.find((thread) => thread.with === chosen || thread.pair === chosen);
  return html`<${Heading} title="Messages">
      ${unread.length > 0 && html`<${Act} label=${MARK} data-wanted=${wish ? "" : undefined} run=${read} done="all marked as read" />`}
      <button type="button" class="act primary" onClick=${writeToAll}>Write to all</button><//>
    ${!messages.ready.value && html`<${Loading} list=${messages} />`}
    ${messages.ready.value && !all.length && html`<${Empty} title="Nobody has written yet">Write to a member on its page.<//>`}
    <div class=${`threads ${chosen ? "open" : ""}`}>
      <ul class="cards">${all.map((thread) => html`<${Line} key=${thread.pair} thread=${thread} chosen=${chosen} />`)}</ul>
      ${chosen && html`<section class="stack" aria-label=${chosen}>
        <div class="row between"><h2>${chosen}</h2><a class="act back" href=${place("messages")}>All threads</a></div>
        <${Thread} key=${chosen} with=${other ? other.with : chosen} pair=${other?.pair} /></section>`}
    </div>`;
}

function threads(messages) {
  const found = new Map();
  for (const message of messages) {
    const pair = pairOf(message);
    const others = endsOf(message).filter((name) => name !== PERSON);
    const thread = found.get(pair) ?? { pair, with: others.length === 1 ? others[0] : "", unread: 0, last: message };
    if (message.timestamp >= thread.last.timestamp) thread.last = message;
    if (isUnread(message)) thread.unread += 1;
    found.set(pair, thread);
  }
  return [...found.values()].sort((one, other) => Boolean(other.with) - Boolean(one.with) || other.last.timestamp.localeCompare(one.last.timestamp));
}

function Line({ thread, chosen }) {
  const name = thread.with || thread.pair;
  return html`<li class=${`card stack ${chosen === name ? "chosen" : ""}`}>
    <div class="row between"><h2><a class="whole" href=${place("messages", name)}>${name}</a></h2><${Since} at=${thread.last.timestamp} /></div>
    <p class="quote small lines">${thread.last.content}</p>
    ${thread.unread > 0 && html`<p><span class="tag asks">${many(thread.unread, "new message")}</span></p>`}
  </li>`;
}
