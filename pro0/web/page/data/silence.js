/** Sleep or a change of network may cut a connection silently, so afterwards the page checks whether it still works. */

/** Milliseconds that the server has to answer this check. */
const SILENCE = 5000;

/** Call `back` whenever the page is shown again or the network is back. Returns a function that stops this. */
export function whenBack(back) {
  const wake = () => document.visibilityState === "visible" && back();
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  return () => {
    removeEventListener("online", wake);
    document.removeEventListener("visibilitychange", wake);
  };
}

/** Send a question with an immediate answer. If `heard` has not changed in time, close the socket and call `lost`. */
export function ask(socket, question, heard, lost) {
  if (socket.readyState !== WebSocket.OPEN) return;
  const before = heard();
  socket.send(JSON.stringify(question));
  setTimeout(() => {
    if (heard() !== before || socket.readyState !== WebSocket.OPEN) return;
    socket.onmessage = socket.onclose = null; // its own close event may take minutes
    socket.close();
    lost();
  }, SILENCE);
}
