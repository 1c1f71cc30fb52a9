/** A patch of git as files of lines: {path, lines: [{kind, text, old, now}]}; kind is "+", "-", " ", "@" or "\\". */
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
  return files;
}

const named = (line) => unquoted(/ "?b\/(.+?)"?$/.exec(line)?.[1] ?? line);

const unquoted = (path) => path.replace(/^"(?:b\/)?(.*)"$/, "$1");
