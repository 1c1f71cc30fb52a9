/** The PIN of verdicts: asked for when the server wants it, never kept. */
import { html } from "../html.js";
import { Field, Form } from "./common.js";
import { closeDialog, closer, openDialog } from "./dialog.js";

const ASKING = ["pin_needed", "wrong_pin"];

/** Do a call, and when it needs the PIN do it again with what the person types; raises what else went wrong. */
export async function withPin(call, method, params, told) {
  try {
    return await call(method, params, told);
  } catch (error) {
    if (!ASKING.includes(error.code)) throw error;
    return new Promise((resolve, reject) => {
      const send = async ({ pin }) => {
        const close = closer();
        const result = await call(method, { ...params, pin }, told);
        close();
        resolve(result);
      };
      const cancel = () => (closeDialog(), reject(error));
      openDialog("Your PIN", () => html`<${Form} label="Go on" send=${send} cancel=${cancel}>
        <p>${error.message}</p><${Field} label="PIN" name="pin" type="password" inputmode="numeric" required autofocus autocomplete="off" /><//>`);
    });
  }
}
