/** Data that is loaded once, and again after a cut or when one of its dependencies has changed. */
import { useEffect } from "../vendor/hooks.js";
import { RpcError } from "./connection.js";
import { team } from "./team.js";

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;

/** Call `load` while the connection is open. If it throws an RpcError, call it again after a growing pause. */
export function useLoaded(load, others = [], connection = team.value?.connection) {
  const open = connection.state.value === "open";
  useEffect(() => (open ? loading(load) : undefined), [connection, open, ...others]);
}

function loading(load) {
  let [wait, timer, over] = [FIRST_WAIT, 0, false];
  const start = async () => {
    try {
      await load();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (!over) timer = setTimeout(start, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    }
  };
  start();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}
