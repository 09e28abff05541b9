// Names that the reader gives: to clusters, which may be merged and annotated, and to selected rows.

const merged = new Map(); // from a cluster to the one that it is a part of
const notes = new Map();
const rowNames = new Map();
const rootOf = (k) => (merged.has(k) ? rootOf(merged.get(k)) : k);

// The clusters as named and merged, to colour by.
function namedColumn() {
  const roots = clusters.names.map((_, k) => k).filter((k) => rootOf(k) === k);
  const place = new Map(roots.map((k, at) => [k, at]));
  const codes = new Uint16Array(page.n);
  const sizes = roots.map(() => 0);
  for (let i = 0; i < page.n; i++) sizes[(codes[i] = place.get(rootOf(clusters.codes[i])))]++;
  return { name: "named cluster", kind: "category", names: roots.map(clusterName), sizes, codes, bits: 16 };
}

// Every place that says a cluster's name says the new one.
function renamed() {
  for (const input of all("[data-named]")) input.value = names.get(Number(input.dataset.named)) ?? "";
  for (const place of all("[data-name]")) place.textContent = clusterName(clusters.names.indexOf(place.dataset.name));
  setColour(merged.size ? namedColumn() : clusters);
}

function setName(k, text) {
  if (text.trim()) names.set(k, text.trim());
  else names.delete(k);
  renamed();
}

function merge(k, into) {
  merged.delete(k);
  if (into >= 0 && rootOf(into) !== k) {
    merged.set(k, into);
    if (names.has(k) && !names.has(rootOf(k))) names.set(rootOf(k), names.get(k)); // one name for what is one
  }
  renamed();
}

function groups() {
  const found = new Map();
  clusters.names.forEach((name, k) => found.set(rootOf(k), [...(found.get(rootOf(k)) ?? []), Number(name)]));
  return [...found.values()].filter((own) => own.length > 1);
}

const byLabel = (map) => Object.fromEntries([...map].map(([k, text]) => [clusters.names[k], text]));
const rootNames = () => new Map([...names].filter(([k]) => rootOf(k) === k));

function saveNames() {
  const found = { names: byLabel(rootNames()), merged: groups() };
  if (notes.size) found.notes = byLabel(notes);
  save("names.json", JSON.stringify(found, null, 2) + "\n", "application/json");
}

// Rows with a name of their own, and all rows of clusters that have one.
function saveNamedRows() {
  const lines = [["id", "class"]];
  for (let i = 0; i < page.n; i++) {
    const name = rowNames.get(i) ?? names.get(rootOf(clusters.codes[i]));
    if (name !== undefined) lines.push([idOf(i), name]);
  }
  save("named.csv", csv(lines), "text/csv");
}

async function loadNames(event) {
  try {
    const found = JSON.parse(await event.target.files[0].text());
    const code = (label) => clusters.names.indexOf(String(label));
    for (const map of [names, merged, notes]) map.clear();
    const fill = (map, given = {}) =>
      Object.entries(given).forEach(([label, text]) => {
        if (code(label) >= 0) map.set(code(label), String(text));
      });
    fill(names, found.names);
    fill(notes, found.notes);
    for (const [first, ...others] of found.merged ?? [])
      others.forEach((other) => merged.set(code(other), code(first)));
    namingTable();
    renamed();
  } catch (error) {
    tell("This is no file of names that a report saved.");
  }
}

function field(value, label, change) {
  const input = make("input", { type: "text", value: value ?? "", size: 14 });
  input.setAttribute("aria-label", label);
  input.onchange = () => change(input.value);
  return input;
}

function nameField(label, k) {
  const input = field(names.get(k), `Name of cluster ${label}`, (text) => setName(k, text));
  input.dataset.named = k;
  return input;
}

function namingTable() {
  const head = ["cluster", "name", "part of", "note"].map((text) => make("th", { scope: "col", textContent: text }));
  const rows = clusters.names.map((label, k) => {
    const list = make(
      "select",
      {},
      new Option("itself", -1),
      ...clusters.names.map((other, at) => new Option(`Cluster ${other}`, at)),
    );
    list.setAttribute("aria-label", `What cluster ${label} is a part of`);
    list.options[k + 1].disabled = true;
    list.value = merged.get(k) ?? -1;
    list.onchange = () => merge(k, Number(list.value));
    const note = (text) => {
      if (text.trim()) notes.set(k, text.trim());
      else notes.delete(k);
    };
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, swatch(k), ` Cluster ${label}`),
      make("td", {}, nameField(label, k)),
      make("td", {}, list),
      make("td", {}, field(notes.get(k), `Note on cluster ${label}`, note)),
    );
  });
  by("names").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

function naming() {
  namingTable();
  by("save-names").onclick = saveNames;
  by("save-rows").onclick = saveNamedRows;
  by("load-names").onchange = loadNames;
  by("name-rows").onclick = () => {
    const name = by("row-name").value.trim();
    for (let i = 0; i < page.n; i++)
      if (state.selected[i]) {
        if (name) rowNames.set(i, name);
        else rowNames.delete(i);
      }
    by("named").textContent = name
      ? `Named; ${counted(rowNames.size)} rows have a name of their own.`
      : "Their names are gone.";
  };
}
