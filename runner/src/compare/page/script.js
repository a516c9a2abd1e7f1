
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
// Texts and cells are in the data once each.
for (const cell of data.cells) {
  for (const told of cell.told) {
    told.reason = data.texts[told.reason];
    told.evidence = told.evidence.map((line) => data.texts[line]);
  }
}
for (const row of data.cases) row.cells = row.cells.map((place) => place === null ? null : data.cells[place]);
const byId = (id) => document.getElementById(id);
/** An element with text; text never becomes markup. */
function element(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined) continue;
    if (key === "class") made.className = value; else made.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
}
const tone = { conforms: "good", escaped: "bad", leaked: "bad", overblocked: "bad", deviates: "bad", timeout: "bad",
  error: "warn", vacuous: "warn", unmeasured: "warn", unsupported: "none", "not-applicable": "none" };
const verdictOf = (row, column) => row.cells[column] ? row.cells[column].verdict : "not run";

function head(first) {
  return element("thead", {}, element("tr", {}, element("th", { scope: "col" }, first),
    data.columns.map((column) => element("th", { scope: "col" }, column.name))));
}
function levels() {
  const hold = { yes: ["good", "✓ "], no: ["bad", "✗ "], "not those below": ["warn", "(✓) "] };
  const names = data.columns.length ? data.columns[0].levels.map((cell) => cell.level) : [];
  byId("levels").append(element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "launcher"),
    element("th", { scope: "col" }, "holds"), names.map((name) => element("th", { scope: "col" }, name)))),
  element("tbody", {}, data.columns.map((column) => element("tr", {},
    element("th", { scope: "row" }, column.name, element("span", { class: "small version" }, version(column))),
    element("td", { class: column.highest ? "good" : "none" }, column.highest ? "up to " + column.highest
      : column.complete ? "no level" : "not judged"),
    column.levels.map((cell) => {
      const [look, mark] = hold[cell.hold] || ["none", "– "];
      return element("td", { class: "part " + look + (cell.claimed ? " claimed" : ""),
        style: "--part: " + (cell.counted ? Math.floor(100 * cell.conform / cell.counted) : 0) + "%",
        title: (cell.claimed ? "claimed; " : "not claimed; ") + "level holds: " + cell.hold },
      cell.counted ? mark + cell.conform + "/" + cell.counted : "–");
    })))));
}
/** The version without the launcher's own name, which stands beside it. */
function version(column) {
  const words = (column.launcher.version || "").split(" ");
  return words.find((word) => /[0-9]/.test(word)) || "";
}
function runs() {
  const names = ["launcher", "version", "host", "user", "facts", "started", "corpus"];
  byId("runs").append(element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, data.columns.map((column) => element("tr", {},
      element("th", { scope: "row" }, column.name),
      [column.launcher.version || "unknown", column.host.os + " " + column.host.kernel + " " + column.host.architecture,
        "uid " + column.host.uid, column.host.facts.join(", "), column.started,
        column.corpora.join(", ") + (column.complete ? "" : " (in part)")]
        .map((text) => element("td", {}, text))))));
}
function topics() {
  const names = [...new Set(data.cases.map((row) => row.topic))].sort();
  const counted = (verdict) => !["unsupported", "not-applicable", "not run"].includes(verdict);
  byId("topics").append(head("topic"), element("tbody", {}, names.map((topic) => element("tr", {},
    element("th", { scope: "row" }, topic),
    data.columns.map((_, column) => {
      const verdicts = data.cases.filter((row) => row.topic === topic).map((row) => verdictOf(row, column)).filter(counted);
      const good = verdicts.filter((verdict) => verdict === "conforms").length;
      const look = verdicts.length === 0 ? "none" : good === verdicts.length ? "good" : "bad";
      return element("td", { class: look }, verdicts.length ? good + "/" + verdicts.length : "–");
    })))));
}
/** Launchers with the same user names dropped where both users came to the same verdict. */
function named(indices) {
  const columns = indices.map((index) => data.columns[index]);
  const all = (launcher) => data.columns.filter((column) => column.launcher.name === launcher).length;
  const names = columns.map(({ name, launcher }) =>
    columns.filter((column) => column.launcher.name === launcher.name).length === all(launcher.name) ? launcher.name : name);
  return [...new Set(names)];
}
/** The verdicts of a case, the worst first, each with the columns that came to it. */
function groups(row) {
  const found = new Map(Object.keys(tone).map((verdict) => [verdict, []]).concat([["not run", []]]));
  data.columns.forEach((_, index) => found.get(verdictOf(row, index)).push(index));
  const order = ["escaped", "leaked", "overblocked", "deviates", "timeout", "error", "vacuous", "unmeasured", "conforms",
    "unsupported", "not-applicable", "not run"];
  return order.map((verdict) => [verdict, found.get(verdict)]).filter(([, indices]) => indices.length);
}
function evidence(row) {
  return groups(row).map(([verdict, indices]) => {
    // Columns that saw the very same are told of together.
    const same = new Map();
    for (const index of indices) {
      const cell = row.cells[index];
      same.set(cell, [...(same.get(cell) || []), index]);
    }
    return [...same].map(([cell, among]) => {
      const counts = cell ? Object.entries(cell.verdicts).map(([name, count]) => count + " " + name).join(", ") : "not run";
      const told = cell ? cell.told.map((trial) => element("div", {},
        element("div", { class: "small" }, trial.trial + ": " + trial.verdict + ": " + trial.reason),
        trial.evidence.length ? element("pre", {}, trial.evidence.join("\n")) : null)) : [];
      const failed = ["bad", "warn"].includes(tone[verdict]);
      const launchers = [...new Set(among.map((index) => data.columns[index].launcher.name))];
      return [element("dt", { class: tone[verdict] || "none" }, named(among).join(", ")),
        element("dd", {}, counts, told, failed ? launchers.map((launcher) =>
          element("code", { class: "again" }, "perimeter repro " + row.id + " --launcher " + launcher)) : null)];
    });
  });
}
/** What a case opens to; made when it is first opened. */
function body(row) {
  const how = "perimeter check " + row.id + " --launcher NAME";
  return element("div", { class: "body" },
    element("p", {}, row.why || "The corpus at hand does not have this case."),
    row.differs ? element("p", { class: "warn" }, "The runs have different texts of this case: their verdicts cannot be compared.") : null,
    row.command ? element("pre", {}, row.command) : null,
    element("dl", {},
      element("dt", {}, "level"), element("dd", {}, row.level + ", " + row.strength),
      element("dt", {}, "topic"), element("dd", {}, row.topic),
      row.platforms.length ? [element("dt", {}, "platforms"), element("dd", {}, row.platforms.join(", "))] : null,
      row.references.length ? [element("dt", {}, "references"), element("dd", {}, row.references.join("; "))] : null,
      element("dt", {}, "more"), element("dd", {}, element("code", {}, "perimeter explain " + row.id)),
      element("dt", {}, "by hand"), element("dd", {}, element("code", {}, "perimeter repro " + row.id)),
      element("dt", {}, "again"), element("dd", {}, element("code", {}, how)),
      element("dt", {}, "link"), element("dd", {}, element("a", { href: "#case=" + encodeURIComponent(row.id) }, "#case=" + row.id))),
    element("h3", {}, "What was seen"),
    element("dl", { class: "evidence" }, evidence(row)));
}
const entries = data.cases.map((row) => {
  const marks = groups(row).map(([verdict, indices]) => {
    const names = named(indices);
    const few = ["bad", "warn"].includes(tone[verdict]) || data.columns.length <= 4;
    return element("span", { class: "mark " + (tone[verdict] || "none") },
      verdict + (few ? ": " + names.join(", ") : " " + indices.length));
  });
  const summary = element("summary", {}, element("span", {}, row.title + (row.differs ? " †" : "")),
    element("code", {}, row.id), element("span", { class: "marks" }, marks));
  const entry = element("details", { id: "case-" + row.id }, summary);
  entry.addEventListener("toggle", () => {
    if (entry.open && entry.childElementCount === 1) entry.append(body(row));
  });
  return { row, entry, text: (row.id + " " + row.title).toLowerCase() };
});

const fields = ["q", "level", "topic", "verdict", "launcher", "platform"];
function options(id, values) {
  byId(id).append(element("option", { value: "" }, "any"), ...values.map((value) => element("option", { value }, value)));
}
function show() {
  const want = Object.fromEntries(fields.map((field) => [field, byId(field).value]));
  const columns = data.columns.map((column, index) => [column.name, index])
    .filter(([name]) => !want.launcher || name === want.launcher).map(([, index]) => index);
  let count = 0;
  for (const { row, entry, text } of entries) {
    const fits = (!want.q || text.includes(want.q.toLowerCase()))
      && (!want.level || row.level === want.level)
      && (!want.topic || row.topic === want.topic)
      && (!want.platform || row.platforms.includes(want.platform))
      && (!want.verdict || columns.some((column) => verdictOf(row, column) === want.verdict))
      && (want.verdict || !want.launcher || columns.some((column) => row.cells[column]));
    entry.hidden = !fits;
    count += fits ? 1 : 0;
  }
  byId("shown").textContent = count + " of " + entries.length + " cases";
}
function remember() {
  const chosen = new URLSearchParams();
  for (const field of fields) if (byId(field).value) chosen.set(field, byId(field).value);
  history.replaceState(null, "", "#" + chosen.toString());
  show();
}
function recall() {
  const chosen = new URLSearchParams(location.hash.slice(1));
  for (const field of fields) byId(field).value = chosen.get(field) || "";
  show();
  const wanted = chosen.get("case");
  const found = wanted && entries.find(({ row }) => row.id === wanted);
  if (found) {
    found.entry.hidden = false;
    found.entry.open = true;
    if (found.entry.childElementCount === 1) found.entry.append(body(found.row));
    found.entry.scrollIntoView();
    found.entry.firstElementChild.focus({ preventScroll: true });
  }
}
const launchers = new Set(data.columns.map((column) => column.launcher.name)).size;
byId("about").textContent = launchers + " launchers, " + data.columns.length + " runs, " + data.cases.length
  + " cases; made " + data.made.slice(0, 10) + " from results of "
  + [...new Set(data.columns.map((column) => column.host.os + " " + column.host.kernel))].join(", ") + ".";
levels();
topics();
runs();
options("level", data.columns.length ? data.columns[0].levels.map((cell) => cell.level) : []);
options("topic", [...new Set(data.cases.map((row) => row.topic))].sort());
options("verdict", [...Object.keys(tone), "not run"]);
options("launcher", data.columns.map((column) => column.name));
options("platform", [...new Set(data.cases.flatMap((row) => row.platforms))].sort());
byId("list").append(...entries.map(({ entry }) => entry));
byId("filters").addEventListener("input", remember);
byId("filters").addEventListener("reset", () => setTimeout(remember));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", recall);
addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    byId("q").focus();
  }
});
recall();
