/** A message to all members at once. */
import { html } from "../html.js";
import { team } from "../data/team.js";
import { Field, Form } from "./common.js";
import { closeDialog, closer, openDialog } from "./dialog.js";

export function writeToAll() {
  const own = team.value;
  const send = async ({ content }) => {
    const close = closer();
    await own.call("message.broadcast", { content });
    close();
  };
  openDialog("Write to all members", () => html`<${Form} label="Send" send=${send} done="sent to all" cancel=${closeDialog}><${Field} label="Your message" name="content" area required autofocus /><//>`);
}
