/** Every screen: its place, its title, what draws it. What is not finished is not here. */
import { Board } from "./board.js";
import { Needs } from "./needs.js";
import { Tree } from "./tree.js";

export const SCREENS = [
  { name: "needs", title: "Needs you", draw: Needs, often: true },
  { name: "board", title: "Board", draw: Board, often: true },
  { name: "tree", title: "Tasks", draw: Tree, often: true },
];
