/** Line icons of our own: name → paths in a box of 24 by 24. */
import { html } from "../html.js";

const PATHS = {
  needs: "M12 3a6 6 0 0 0-6 6v4l-2 3h16l-2-3V9a6 6 0 0 0-6-6zM10 19a2 2 0 0 0 4 0",
  board: "M4 5h4v14H4zM10 5h4v9h-4zM16 5h4v11h-4z",
  tree: "M5 4v14h5M5 9h5M13 6.500h7M13 9h7M13 18h7",
  member: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20a6.500 6.500 0 0 1 13 0M16 4.500a3.500 3.500 0 0 1 0 6.300M18 14.500a6.500 6.500 0 0 1 3.500 5.500",
  messages: "M4 5h16v11H10l-4 4v-4H4z",
  workers: "M4 7h16v12H4zM9 7V4h6v3M4 12h16",
  roles: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6z",
  cost: "M12 3v18M16 7H10a2.500 2.500 0 0 0 0 5h4a2.500 2.500 0 0 1 0 5H7",
  timeline: "M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  start: "M7 4l12 8-12 8z",
  devices: "M8 3h8v18H8zM11 18h2",
  more: "M5 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM12 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM19 11a1 1 0 1 0 0 2 1 1 0 0 0 0-2z",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
};

export const Icon = ({ name }) => html`<svg class="drawn" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
