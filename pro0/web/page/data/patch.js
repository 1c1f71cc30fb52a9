/** Parse a patch of git into files {path, key, lines: [{kind, text, old, now}]}. Kinds: "+", "-", " ", "@", "\\". */
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
  // A file that became a link has two patches of the same path, so the key has a number: 0 removes it, 1 adds the link.
  return files.map((file, at) => ({ ...file, key: `${file.path}:${files.slice(0, at).filter(({ path }) => path === file.path).length}` }));
}

/** Offsets of the neighbouring lines, which tell a line from others with the same text. */
const AROUND = [-3, -2, -1, 1, 2, 3];

export const numberOf = ({ now, old }) => now ?? old;

/** What a comment stores about its line, to find the line again in a later patch. */
export function lineAt(lines, place) {
  const { kind, text } = lines[place];
  return { removed: kind === "-", code: text, line: numberOf(lines[place]), around: AROUND.map((step) => lines[place + step]?.text) };
}

/**
 * The index of a comment's line in a later patch: the line of the same text with the most equal neighbours, then the
 * nearest. -1 when there is none, or when there are several and the best has no equal neighbour.
 */
function placeOf(lines, { removed, code, line, around }, isTaken) {
  const fits = (one, place) => one.text === code && "+- ".includes(one.kind) && (one.kind === "-") === removed && !isTaken(place);
  const alike = (place) => AROUND.filter((step, at) => lines[place + step]?.text === around[at]).length;
  const far = (place) => Math.abs(numberOf(lines[place]) - line);
  const [best = -1, ...others] = [...lines.keys()].filter((place) => fits(lines[place], place)).sort((one, other) => alike(other) - alike(one) || far(one) - far(other));
  return others.length && !alike(best) ? -1 : best;
}

/** The comments by the present places of their lines: `FILE:INDEX`, or `gone:ID` when the line is gone. */
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
