// Rows that the reader selects: which, compared with the rest, and as a file.

const COMPARED = 200;

function select(test) {
  const flags = new Uint8Array(page.n);
  let count = 0;
  for (let i = 0; i < page.n; i++)
    if (!isHidden(i) && test(i)) {
      flags[i] = 1;
      count++;
    }
  showSelection(count ? flags : null);
}

function toggle(i) {
  const flags = state.selected ? state.selected.slice() : new Uint8Array(page.n);
  flags[i] = 1 - flags[i];
  showSelection(flags.some(Boolean) ? flags : null);
}

function partsOf(column, flags) {
  const sizes = column.names.map(() => 0);
  for (let i = 0; i < page.n; i++) if (flags[i]) sizes[column.codes[i]]++;
  const found = sizes
    .map((size, k) => [size, k])
    .filter(([size]) => size)
    .sort((a, b) => b[0] - a[0]);
  const listed = found
    .slice(0, 8)
    .map(([size, k]) => `${column === clusters ? clusterName(k) : nameAt(column, k)}: ${counted(size)}`);
  return listed.join(", ") + (found.length > 8 ? ", …" : "");
}

function showSelection(flags) {
  state.selected = flags;
  painter.select(flags);
  by("selection").hidden = !flags;
  by("compared").replaceChildren();
  if (flags) {
    const count = flags.reduce((sum, flag) => sum + flag, 0);
    by("count").textContent = `${counted(count)} ${count === 1 ? "row" : "rows"} selected`;
    by("parts").textContent = partsOf(clusters, flags) + (classes ? `; classes: ${partsOf(classes, flags)}` : "");
  }
  draw();
}

function inside(corners) {
  const t = transform();
  return (i) => {
    const [x, y] = placeOf(i, t);
    let odd = false;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
      const [ax, ay] = corners[a];
      const [bx, by_] = corners[b];
      if (ay > y !== by_ > y && x < ((bx - ax) * (y - ay)) / (by_ - ay) + ax) odd = !odd;
    }
    return odd;
  };
}

function selectInView() {
  const { w, h } = box();
  select(
    inside([
      [0, 0],
      [w, 0],
      [w, h],
      [0, h],
    ]),
  );
}

// Cohen's d of a feature between the rows with a flag and the others.
function effectOf(feature, flags) {
  const last = missingOf(feature);
  const sums = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  for (let i = 0; i < page.n; i++) {
    const code = feature.codes[i];
    if (code === last) continue;
    const own = sums[flags[i]];
    own[0]++;
    own[1] += code;
    own[2] += code * code;
  }
  const [[n, a, aa], [m, b, bb]] = sums;
  if (!n || !m) return null;
  const spread = Math.sqrt(Math.max(aa - (a * a) / n + bb - (b * b) / m, 0) / Math.max(n + m - 2, 1));
  const gap = b / m - a / n;
  const effect = gap === 0 ? 0 : Math.max(-99, Math.min(99, gap / spread));
  return { feature, effect, here: valueAt(feature, b / m), elsewhere: valueAt(feature, a / n) };
}

async function compare() {
  const flags = state.selected;
  const some = page.features.slice(0, COMPARED);
  await Promise.all(some.map(ready));
  const found = some.map((feature) => effectOf(feature, flags)).filter((one) => one && one.effect !== 0);
  found.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  const head = ["feature", "effect", "here", "elsewhere"].map((text) =>
    make("th", { scope: "col", textContent: text }),
  );
  const rows = found
    .slice(0, 12)
    .map(({ feature, effect, here, elsewhere }) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, featureButton(feature)),
        ...[(effect > 0 ? "+" : "") + effect.toFixed(1), digits(here), digits(elsewhere)].map((text) =>
          make("td", { className: "number", textContent: text }),
        ),
      ),
    );
  by("compared").replaceChildren(
    found.length
      ? make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))
      : make("p", { textContent: "No feature that the page carries tells the selection from the rest." }),
  );
}

async function download() {
  await Promise.all(page.features.map(ready));
  const columns = [...page.columns, ...page.features];
  const lines = [["id", ...columns.map((column) => column.name)]];
  for (let i = 0; i < page.n; i++) {
    if (state.selected[i])
      lines.push([idOf(i), ...columns.map((column) => valueOf(column, i).replace(/^missing$/, ""))]);
  }
  save("selected.csv", csv(lines), "text/csv");
}
