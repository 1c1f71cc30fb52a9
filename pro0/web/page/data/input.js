/** The input of a tool as a person reads it: every parameter with its value. */

const STRING = /"(?:[^"\\]|\\.)*"|\s+/g;
const UNSEEN = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu;

/** [name, text] of each parameter; null when the input is no object, or when parsing it would lose something. */
export function parametersOf(input) {
  let value = null;
  try {
    value = JSON.parse(input);
  } catch {
    return null;
  }
  const isObject = value && typeof value === "object" && !Array.isArray(value);
  // Parsing loses repeated names and the digits of long numbers. The text itself is shown then.
  if (!isObject || JSON.stringify(value) !== compact(input)) return null;
  return Object.entries(value).map(([name, one]) => [seen(name), seen(typeof one === "string" ? one : JSON.stringify(one, null, 2))]);
}

const compact = (json) => json.replace(STRING, (part) => (part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : ""));

const seen = (text) => text.replace(UNSEEN, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
