/** What is asked for once, and again after a cut or when something that it depends on has changed. */
import { useEffect } from "../vendor/hooks.js";
import { team } from "./team.js";

export function useLoaded(load, others = [], connection = team.value?.connection) {
  const open = connection.state.value === "open";
  useEffect(() => {
    if (open) load();
  }, [connection, open, ...others]);
}
