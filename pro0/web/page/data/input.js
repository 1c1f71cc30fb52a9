/** The input of a tool, as a person reads it: each of its parameters with its value, nothing left out. */

const STRING = /"(?:[^"\\]|\\.)*"|\s+/g;
const UNSEEN = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu;

/** [name, text] of each parameter; null for what is no object, or would not be shown whole as one. */
export function parametersOf(input) {
  let value = null;
  try {
    value = JSON.parse(input);
  } catch {
    return null;
  }
  const isObject = value && typeof value === "object" && !Array.isArray(value);
  // A name that comes twice, or a number that is too long, is lost by reading: then the text itself is shown.
  if (!isObject || JSON.stringify(value) !== compact(input)) return null;
  return Object.entries(value).map(([name, one]) => [seen(name), seen(typeof one === "string" ? one : JSON.stringify(one, null, 2))]);
}

const compact = (json) => json.replace(STRING, (part) => (part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : ""));

const seen = (text) => text.replace(UNSEEN, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
