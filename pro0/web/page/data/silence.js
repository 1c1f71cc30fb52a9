/** A sleep or another network may cut a connection without a word: whoever is back asks whether the other end is there. */

/** Milliseconds in which the server has to answer somebody who is back. */
const SILENCE = 5000;

/** Call `back` whenever the person looks again, or the network is there again. Returns what ends it. */
export function whenBack(back) {
  const wake = () => document.visibilityState === "visible" && back();
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  return () => {
    removeEventListener("online", wake);
    document.removeEventListener("visibilitychange", wake);
  };
}

/** Send a question that is answered at once; when nothing comes, so that `heard` stays as it is, close, and call `lost`. */
export function ask(socket, question, heard, lost) {
  if (socket.readyState !== WebSocket.OPEN) return;
  const before = heard();
  socket.send(JSON.stringify(question));
  setTimeout(() => {
    if (heard() !== before || socket.readyState !== WebSocket.OPEN) return;
    socket.onmessage = socket.onclose = null; // its own end may take minutes
    socket.close();
    lost();
  }, SILENCE);
}
