/** A patch of git as files of lines: {path, key, lines: [{kind, text, old, now}]}; kind is "+", "-", " ", "@" or "\\". */
export function parsePatch(text) {
  const files = [];
  let file = null;
  let old = 0;
  let now = 0;
  for (const line of text.split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (line.startsWith("diff --git ")) {
      file = { path: named(line), lines: [], inside: false };
      files.push(file);
    } else if (!file) continue;
    else if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
      file.inside = true;
      file.lines.push({ kind: "@", text: line });
    } else if (!file.inside) {
      if (/^(rename|new file|deleted file|Binary|old mode|new mode)/.test(line)) file.lines.push({ kind: "@", text: line });
      const target = /^\+\+\+ (?:b\/)?(.+?)\t?$/.exec(line);
      if (target && target[1] !== "/dev/null") file.path = unquoted(target[1]);
    } else if ("+- \\".includes(line[0] ?? "~")) {
      const entry = { kind: line[0], text: line.slice(1) };
      if (line[0] === "-" || line[0] === " ") entry.old = old++;
      if (line[0] === "+" || line[0] === " ") entry.now = now++;
      file.lines.push(entry);
    }
  }
  // A file that became a link has two patches: what it was goes, and the link comes.
  return files.map((file, at) => ({ ...file, key: `${file.path}:${files.slice(0, at).filter(({ path }) => path === file.path).length}` }));
}

/** Steps to the lines around one, by which it is told from others of the same text. */
const AROUND = [-3, -2, -1, 1, 2, 3];

export const numberOf = ({ now, old }) => now ?? old;

/** What a comment has of its line, so that the line is found again in a later patch. */
export function lineAt(lines, place) {
  const { kind, text } = lines[place];
  return { removed: kind === "-", code: text, line: numberOf(lines[place]), around: AROUND.map((step) => lines[place + step]?.text) };
}

/** The place of a comment's line in a later patch, -1 when it is gone: the one with the same lines around, then the nearest. */
function placeOf(lines, { removed, code, line, around }, isTaken) {
  const fits = (one, place) => one.text === code && "+- ".includes(one.kind) && (one.kind === "-") === removed && !isTaken(place);
  const alike = (place) => AROUND.filter((step, at) => lines[place + step]?.text === around[at]).length;
  const far = (place) => Math.abs(numberOf(lines[place]) - line);
  const [best = -1, ...others] = [...lines.keys()].filter((place) => fits(lines[place], place)).sort((one, other) => alike(other) - alike(one) || far(one) - far(other));
  return others.length && !alike(best) ? -1 : best;
}

/** Comments by their places in these files, `FILE:PLACE`, where their lines are now; `gone:ID` for one whose line is not there. */
export function followed(comments, files) {
  const moved = {};
  for (const entry of Object.values(comments)) {
    const lines = files.find(({ key }) => key === entry.file)?.lines ?? [];
    const place = placeOf(lines, entry, (one) => moved[`${entry.file}:${one}`]);
    if (place < 0) moved[`gone:${entry.id}`] = { ...entry, gone: true };
    else moved[`${entry.file}:${place}`] = { ...entry, ...lineAt(lines, place), gone: false };
  }
  return moved;
}

const named = (line) => unquoted(/ "?b\/(.+?)"?$/.exec(line)?.[1] ?? line);

const unquoted = (path) => path.replace(/^"(?:b\/)?(.*)"$/, "$1");
