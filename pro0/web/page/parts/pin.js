/** The PIN of verdicts: asked for when the server wants it, never kept. */
import { html } from "../html.js";
import { Field, Form } from "./common.js";
import { closeDialog, closer, openDialog } from "./dialog.js";
import { GivenUp } from "./notices.js";

const ASKING = ["pin_needed", "wrong_pin"];

/** Do a call. If it needs the PIN, ask the person and repeat it. Throws other errors, and GivenUp if nobody answers. */
export async function withPin(call, method, params, told) {
  try {
    return await call(method, params, told);
  } catch (error) {
    if (!ASKING.includes(error.code)) throw error;
    return new Promise((resolve, reject) => {
      let sent = null;
      const send = async ({ pin }) => {
        const close = closer();
        sent = call(method, { ...params, pin }, told);
        try {
          resolve(await sent);
        } catch (refused) {
          sent = null;
          throw refused;
        }
        close();
      };
      // A call that was sent before the dialog closed may still succeed, so its answer counts.
      const left = () => (sent ?? Promise.reject(new GivenUp())).catch(reject);
      const content = () => html`<${Form} label="Go on" send=${send} cancel=${closeDialog}>
        <p>${error.message}</p><${Field} label="PIN" name="pin" type="password" inputmode="numeric" required autofocus autocomplete="off" /><//>`;
      openDialog("Your PIN", content, "", left);
    });
  }
}
