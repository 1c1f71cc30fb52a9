/**
 * Returns the content of the page: first the width of its letters on this machine, then one line for each control and
 * each element with text of its own. Before that, it replaces on the page whatever differs each time, such as times.
 */
() => {
  const FIXED = [
    [/\b\d\d:\d\d(:\d\d)?( [AP]M)?\b/gi, (time) => (time.length > 6 ? "10:21:34" : "10:21")],
    [/\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? \d+ \w+\b/g, () => "Tuesday 3 June"],
    [/\b\d{1,2} [A-Z][a-z]{2} \d{4}\b/g, () => "3 Jun 2025"],
    [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, () => "7d41c09b-e2a6-4358-9c1d-7d41c09be2a6"],
    [/\b[0-9a-f]{8,}\b/g, (id) => "7d41c09be2a6f358".slice(0, id.length)],
    [/\/tmp\/pro0-\w+/g, () => "~"],
  ];
  const same = (text) => FIXED.reduce((made, [pattern, words]) => made.replace(pattern, words), text);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) if (same(node.data) !== node.data) node.data = same(node.data);
  for (const field of document.querySelectorAll("input")) if (same(field.value) !== field.value) field.value = same(field.value);
  const controls = "input, select, textarea, button, a, img, [role]";
  const texts = (element) => [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
  const own = (element) => texts(element).map((node) => node.data).join("").trim().replace(/\s+/g, " ");
  const words = (element) => own(element) || element.getAttribute("aria-label") || element.getAttribute("placeholder") || element.value || "";
  const line = (element) => {
    const box = element.getBoundingClientRect();
    const look = getComputedStyle(element);
    const place = [box.x, box.y, box.width, box.height].map(Math.round).join(" ");
    const role = element.getAttribute("role") ? `.${element.getAttribute("role")}` : "";
    const colours = `${look.color} on ${look.backgroundColor}`;
    return `${element.localName}${role} "${words(element)}" [${place}] ${colours} ${look.fontWeight} ${look.fontSize}`;
  };
  const shown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && element.getBoundingClientRect().width > 0;
  const all = [...document.body.querySelectorAll("*")];
  const told = all.filter((element) => shown(element) && (own(element) || element.matches(controls)));
  const ruler = document.createElement("span");
  Object.assign(ruler, { textContent: "The quick brown fox jumps over 1234567890", style: "position:absolute" });
  document.body.append(ruler);
  const font = `letters ${Math.round(ruler.getBoundingClientRect().width)}`;
  ruler.remove();
  return [font, ...told.map(line)];
};
