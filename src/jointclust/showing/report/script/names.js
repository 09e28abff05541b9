// Names that the reader gives: to clusters, which may be merged and annotated, and to selected rows.
// They are kept by the browser until the reader forgets them.

const merged = new Map(); // from a cluster to the one that it is a part of, by node
const notes = new Map();
const rowNames = new Map();
const KEY = `jointclust ${page.key}`;

const rootOf = (node) => (merged.has(node) && numberOf(merged.get(node)) >= 0 ? rootOf(merged.get(node)) : node);
const rootNumber = (k) => numberOf(rootOf(clusters.nodes[k]));
const isMerged = () => clusters.nodes.some((node) => rootOf(node) !== node);

// The clusters as named and merged, to colour by.
function namedColumn() {
  const roots = clusters.nodes.filter((node) => rootOf(node) === node);
  const place = new Map(roots.map((node, at) => [node, at]));
  const codes = new Uint16Array(page.n);
  const sizes = roots.map(() => 0);
  for (let i = 0; i < page.n; i++) sizes[(codes[i] = place.get(rootOf(clusters.nodes[clusters.codes[i]])))]++;
  const looks = looksOf(roots);
  return { name: "named cluster", kind: "category", names: roots.map(nodeName), sizes, codes, bits: 16, looks };
}

// Every place that says a cluster's name says the new one.
function renamed() {
  for (const input of all("[data-named]")) input.value = names.get(Number(input.dataset.named)) ?? "";
  for (const place of all("[data-name]")) place.textContent = nodeName(Number(place.dataset.name));
  setColour(isMerged() ? namedColumn() : clusters);
}

function setName(node, text) {
  if (text.trim()) names.set(node, text.trim());
  else names.delete(node);
  renamed();
  keep();
}

function merge(node, into) {
  merged.delete(node);
  if (into >= 0 && rootOf(into) !== node) {
    merged.set(node, into);
    if (names.has(node) && !names.has(rootOf(node))) names.set(rootOf(node), names.get(node)); // one name for what is one
  }
  renamed();
  keep();
}

// ---- kept by the browser ----

// Where a page may keep nothing (in a frame of a notebook, or if the reader forbids it), that is said.
function keep() {
  const found = { names, merged, notes, rows: rowNames };
  const plain = Object.fromEntries(Object.entries(found).map(([name, map]) => [name, [...map]]));
  try {
    window.localStorage.setItem(KEY, JSON.stringify(plain));
    by("kept").textContent = "Kept by this browser.";
  } catch (error) {
    by("kept").textContent = "This browser keeps nothing for this page: save the names before you close it.";
  }
}

function restore() {
  let found = null;
  try {
    found = JSON.parse(window.localStorage.getItem(KEY));
  } catch (error) {
    return;
  }
  const maps = { names, merged, notes, rows: rowNames };
  for (const [name, map] of Object.entries(maps)) for (const [key, value] of found?.[name] ?? []) map.set(key, value);
  if (found) by("kept").textContent = "Kept by this browser.";
}

function forget() {
  for (const map of [names, merged, notes, rowNames]) map.clear();
  try {
    window.localStorage.removeItem(KEY);
  } catch (error) {
    // nothing was kept
  }
  by("kept").textContent = "Forgotten.";
  namingTable();
  renamed();
}

// ---- files ----

function groups() {
  const found = new Map();
  clusters.nodes.forEach((node, k) => found.set(rootOf(node), [...(found.get(rootOf(node)) ?? []), k]));
  return [...found.values()].filter((own) => own.length > 1);
}

// What `jointclust apply-names` reads: by the numbers of the clusters that are shown.
function saveNames() {
  const byNumber = (pairs) => Object.fromEntries(pairs.filter(([, text]) => text !== undefined));
  const roots = clusters.nodes.map((node, k) => [k, rootOf(node) === node ? nodeName(node) : undefined]);
  const found = { n_clusters: clusters.names.length, names: byNumber(roots), merged: groups() };
  const annotated = clusters.nodes.map((node, k) => [k, notes.get(node)]).filter(([, text]) => text);
  if (annotated.length) found.notes = byNumber(annotated);
  save("names.json", JSON.stringify(found, null, 2) + "\n", "application/json");
}

// Rows with a name of their own, and all rows of clusters to which the reader gave one.
function saveNamedRows() {
  const lines = [["id", "class"]];
  for (let i = 0; i < page.n; i++) {
    const name = rowNames.get(i) ?? names.get(rootOf(clusters.nodes[clusters.codes[i]]));
    if (name !== undefined) lines.push([idOf(i), name]);
  }
  save("named.csv", csv(lines), "text/csv");
}

async function loadNames(event) {
  try {
    const found = JSON.parse(await event.target.files[0].text());
    const count = found.n_clusters ?? fitted;
    if (count !== clusters.names.length && (count === fitted || page.tree?.layers[count - 1])) setLayer(count);
    for (const map of [names, merged, notes]) map.clear();
    const node = (number) => clusters.nodes[Number(number)];
    const fill = (map, given = {}) =>
      Object.entries(given).forEach(([number, text]) => {
        if (node(number) !== undefined && text !== page.names[node(number)]) map.set(node(number), String(text));
      });
    fill(names, found.names);
    fill(notes, found.notes);
    for (const [first, ...others] of found.merged ?? [])
      others.forEach((other) => merged.set(node(other), node(first)));
    namingTable();
    renamed();
    keep();
  } catch (error) {
    tell("This is no file of names that a report saved.");
  }
}

// ---- fields ----

function field(value, label, hint, change) {
  const input = make("input", { type: "text", value: value ?? "", size: 14, placeholder: hint });
  input.setAttribute("aria-label", label);
  input.onchange = () => change(input.value);
  return input;
}

function nameField(k, node) {
  const input = field(names.get(node), `Name of cluster ${k}`, page.names[node], (text) => setName(node, text));
  input.dataset.named = node;
  return input;
}

function namingTable() {
  const head = ["cluster", "name", "part of", "note"].map((text) => make("th", { scope: "col", textContent: text }));
  const rows = clusters.nodes.map((node, k) => {
    const list = make(
      "select",
      {},
      new Option("itself", -1),
      ...clusters.nodes.map((other, at) => new Option(`${at}: ${cut(nodeName(other))}`, other)),
    );
    list.setAttribute("aria-label", `What cluster ${k} is a part of`);
    list.options[k + 1].disabled = true;
    list.value = merged.get(node) ?? -1;
    list.onchange = () => merge(node, Number(list.value));
    const note = (text) => {
      if (text.trim()) notes.set(node, text.trim());
      else notes.delete(node);
      keep();
    };
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, swatch(k), ` ${k}`),
      make("td", {}, nameField(k, node)),
      make("td", {}, list),
      make("td", {}, field(notes.get(node), `Note on cluster ${k}`, "", note)),
    );
  });
  by("names").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

function naming() {
  restore();
  namingTable();
  by("save-names").onclick = saveNames;
  by("save-rows").onclick = saveNamedRows;
  by("load-names").onchange = loadNames;
  by("forget").onclick = forget;
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
    keep();
  };
}
