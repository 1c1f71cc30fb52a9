/** Every screen: its name in the address, its title, and the part that draws it. Unfinished screens are left out. */
import { Board } from "./board.js";
import { CostAndLimits } from "./cost.js";
import { Devices } from "./devices.js";
import { Members } from "./members.js";
import { Messages } from "./messages.js";
import { Needs } from "./needs.js";
import { Roles } from "./roles.js";
import { Session } from "./session.js";
import { Start } from "./start.js";
import { Timeline } from "./timeline.js";
import { Tree } from "./tree.js";
import { Workers } from "./workers.js";

export const SCREENS = [
  { name: "needs", title: "Needs you", draw: Needs, often: true },
  { name: "board", title: "Board", draw: Board, often: true },
  { name: "tree", title: "Tasks", draw: Tree, often: true },
  { name: "member", title: "Members", draw: Members, often: true },
  { name: "messages", title: "Messages", draw: Messages },
  { name: "workers", title: "Workers and runs", draw: Workers },
  { name: "roles", title: "Roles", draw: Roles },
  { name: "cost", title: "Cost and limits", draw: CostAndLimits },
  { name: "timeline", title: "Timeline", draw: Timeline },
  { name: "start", title: "Start a team", draw: Start },
  { name: "devices", title: "Devices", draw: Devices },
];

/** Screens that only other screens link to. */
export const WITHIN = [{ name: "session", title: "Session", draw: Session }];
