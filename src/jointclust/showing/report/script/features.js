// Features: found by name, shown by cluster, and what colours the map.

const FOUND = 12;
const OFFERED = 6;
const BINS = 48;

function featureButton(feature) {
  const button = make("button", { type: "button", className: "link", textContent: feature.name });
  button.onclick = () => colourBy(feature);
  return button;
}

// A column of categories, which colours the map.
function columnButton(column) {
  const button = make("button", { type: "button", className: "link", textContent: column.name });
  button.onclick = () => setColour(column);
  return button;
}

// What a search finds: names that are the text first, then those that begin with it, then those that hold it.
function search(items, text, nameOf) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const exact = [];
  const first = [];
  const later = [];
  for (let k = 0; k < items.length; k++) {
    const name = nameOf(items[k], k);
    const at = name.indexOf(wanted);
    if (at < 0) continue;
    const list = name === wanted ? exact : at === 0 ? first : later;
    if (list.length < FOUND) list.push(k);
  }
  return [...exact, ...first, ...later].slice(0, FOUND);
}

// A search field whose findings are buttons: arrow keys and Tab reach them, Enter takes the first.
function finder(input, list, find) {
  const buttons = () => [...list.querySelectorAll("button")];
  const show = () => list.replaceChildren(...find(input.value).map((button) => make("li", {}, button)));
  input.oninput = show;
  show();
  input.onkeydown = (event) => {
    if (event.key === "Enter") buttons()[0]?.click();
    else if (event.key === "ArrowDown") buttons()[0]?.focus();
    else return;
    event.preventDefault();
  };
  list.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    (buttons()[buttons().indexOf(document.activeElement) + step] ?? input).focus();
  };
  list.addEventListener("click", () => {
    input.value = "";
    show();
  });
}

// Before anything is typed, the features that tell the clusters apart most are offered.
function featureFinder() {
  const lowered = page.features.map((feature) => feature.name.toLowerCase());
  finder(by("feature-search"), by("feature-found"), (text) => {
    const found = text.trim()
      ? search(page.features, text, (_, k) => lowered[k])
      : [...page.features.keys()].slice(0, OFFERED);
    return found.map((k) => featureButton(page.features[k]));
  });
  const left = page.n_features - page.features.length;
  const listed = page.features
    .slice(0, 20)
    .map((one) => one.name)
    .join(", ");
  const few = counted(page.features.length);
  const of = page.features.some((one) => one.of === "level") ? " (columns, and levels of categories)" : "";
  by("carried").textContent =
    left === 0
      ? `The page carries all ${counted(page.n_features)} features${of}, at four digits.`
      : `The page carries ${few} of ${counted(page.n_features)} features, at four digits, those that tell the ` +
        `clusters apart most: ${listed}${page.features.length > 20 ? ", …" : ""}. A larger page has room for more: ` +
        "fit with --report-megabytes, or write_report with most_megabytes.";
}

// Names of features all over the page, also in cards that are not shown yet.
function followFeature(link) {
  const feature = featureAt.get(Number(link.dataset.feature));
  if (!feature) {
    tell(`This page does not carry ${link.textContent}: a larger one does.`);
    return;
  }
  colourBy(feature);
  by("map").scrollIntoView();
}

// ---- how a feature is spread in each cluster ----

function spreadOf(feature) {
  const { low, high } = limits(feature);
  const last = missingOf(feature);
  const width = (high - low + 1) / BINS;
  const each = clusters.names.map(() => ({ bins: new Float64Array(BINS), n: 0, sum: 0 }));
  for (let i = 0; i < page.n; i++) {
    const code = feature.codes[i];
    if (code === last) continue;
    const own = each[clusters.codes[i]];
    own.n++;
    own.sum += code;
    own.bins[Math.min(BINS - 1, Math.max(0, Math.floor((code - low) / width)))]++;
  }
  for (const own of each) own.bins = smooth(smooth(own.bins));
  return each;
}

const smooth = (bins) => bins.map((n, b) => ((bins[b - 1] ?? n) + 2 * n + (bins[b + 1] ?? n)) / 4);

function violin(own, k, low, high) {
  const half = 11;
  const most = Math.max(...own.bins, 1);
  const edge = (side) =>
    [...own.bins].map((n, b) => [((b + 0.5) / BINS) * 200, half + (side * half * 0.95 * n) / most]);
  const places = [...edge(-1), ...edge(1).reverse()];
  const outline_ = places.map((place) => place.map((value) => value.toFixed(1)).join()).join(" ");
  const drawing = draft("svg", { viewBox: "0 0 200 22", preserveAspectRatio: "none", "aria-hidden": "true" });
  drawing.append(draft("polygon", { points: outline_, fill: lookOf(k) }));
  if (own.n) {
    const x = 200 * Math.max(0, Math.min(1, (own.sum / own.n - low) / (high - low || 1)));
    drawing.append(draft("line", { x1: x, x2: x, y1: 1, y2: 21, class: "mean" }));
  }
  return drawing;
}

function shareBar(own, k) {
  const drawing = draft("svg", { viewBox: "0 0 200 22", preserveAspectRatio: "none", "aria-hidden": "true" });
  drawing.append(draft("rect", { y: 4, width: own.n ? (200 * own.sum) / own.n : 0, height: 14, fill: lookOf(k) }));
  return drawing;
}

function showFeature(feature) {
  const { low, high, cutLow, cutHigh } = limits(feature);
  const rows = spreadOf(feature).map((own, k) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", title: clusterName(k) }, swatch(k), ` ${clusterName(k)}`),
      make("td", { className: "violin" }, feature.of === "level" ? shareBar(own, k) : violin(own, k, low, high)),
      make("td", { className: "number", textContent: own.n ? meanText(feature, valueAt(feature, own.sum / own.n)) : "" }),
    ),
  );
  const head = ["cluster", "distribution", "mean"].map((text) => make("th", { scope: "col", textContent: text }));
  const outermost = cutLow || cutHigh ? ", without the outermost rows" : "";
  const [least, most] = [low, high].map((code) => spoken(feature, valueAt(feature, code)));
  const ends = feature.of === "level" ? "The share of rows that have it." : `From ${least} to ${most}${outermost}.`;
  const close = make("button", { type: "button", className: "close", textContent: "Close" });
  close.onclick = () => {
    by("feature").hidden = true;
    setColour(clusters);
  };
  const add = make("button", { type: "button", className: "add", textContent: "Add a map beside" });
  add.onclick = () => addBeside(feature);
  state.feature = feature;
  by("feature").replaceChildren(
    close,
    make("h3", { textContent: feature.name }),
    make("p", {}, add),
    make("table", { className: "spread" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)),
    make("p", { className: "note", textContent: ends }),
  );
  by("feature").hidden = false;
  by("row").before(by("feature")); // what was asked for last stands first
}
