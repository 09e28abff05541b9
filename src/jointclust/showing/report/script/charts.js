// Charts by cluster: shares of categories, mean curves; and every chart as a file.

const LEVELS = 9;
const BARS = 8;
const CURVES = 12;

// ---- every chart as a file ----

// A chart with the colours that it has on the screen, on paper of its own.
function standalone(chart) {
  const copy = chart.cloneNode(true);
  const { width, height } = chart.viewBox.baseVal;
  const wanted = ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "font-size", "font-weight", "text-anchor"];
  const originals = [...chart.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((part, k) => {
    const style = getComputedStyle(originals[k]);
    for (const name of wanted) if (!part.hasAttribute(name)) part.setAttribute(name, style.getPropertyValue(name));
  });
  for (const [name, value] of Object.entries({ width, height, "font-family": "sans-serif" })) copy.setAttribute(name, value);
  copy.prepend(draft("rect", { width, height, fill: hue("--paper") }));
  return new XMLSerializer().serializeToString(copy);
}

const saveChartSvg = (chart, name) => save(`${name}.svg`, standalone(chart), "image/svg+xml");

async function saveChartPng(chart, name) {
  const { width, height } = chart.viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(chart))}`;
  await image.decode();
  const sheet = make("canvas", { width: 2 * width, height: 2 * height });
  sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
  sheet.toBlob((blob) => save(`${name}.png`, blob, "image/png"));
}

// Buttons below a chart that save it; the chart is looked for when they are used, as it may be drawn anew.
function saving(place, name) {
  const button = (text, act) => {
    const found = make("button", { type: "button", textContent: text });
    found.setAttribute("aria-label", `Save ${name} as ${text}`);
    found.onclick = () => act(place.querySelector("svg.chart"), name);
    return found;
  };
  place.append(make("p", { className: "save" }, button("SVG", saveChartSvg), " ", button("PNG", saveChartPng)));
}

function savable() {
  for (const place of all("[data-chart]")) saving(place, place.dataset.chart);
}

// ---- categories ----

// One bar for each cluster and one for all rows, parted by the share of each level; rare levels are one.
function barsOf(column) {
  const totals = column.names.map((_, k) => [column.sizes[k], k]).sort((a, b) => b[0] - a[0]);
  const own = totals.slice(0, totals.length > LEVELS ? LEVELS - 1 : LEVELS).map(([, k]) => k);
  const place = new Map(own.map((k, at) => [k, at]));
  const names_ = own.map((k) => nameAt(column, k));
  if (totals.length > own.length) names_.push(`${totals.length - own.length} others`);
  const counts = [...clusters.nodes, -1].map(() => new Float64Array(names_.length));
  for (let i = 0; i < page.n; i++) {
    const at = place.get(column.codes[i]) ?? names_.length - 1;
    counts[clusters.codes[i]][at]++;
    counts.at(-1)[at]++;
  }
  return { names: names_, counts };
}

// As much of a text as has room at the size of a chart's letters.
function fitting(text, width) {
  const pen = overlay.getContext("2d");
  pen.font = "12px system-ui, sans-serif";
  let most = text.length;
  while (most > 1 && pen.measureText(cut(text, most)).width > width) most--;
  return cut(text, most);
}

function bars(column) {
  const { names: levels, counts } = barsOf(column);
  const [left, wide, across] = window.innerWidth < 720 ? [150, 200, 2] : [200, 330, 3];
  const tall = 20;
  const lines = Math.ceil(levels.length / across);
  const height = counts.length * tall + 24 + 18 * lines;
  const drawing = draft("svg", { viewBox: `0 0 ${left + wide + 20} ${height}`, class: "chart bars", role: "img" });
  drawing.setAttribute("aria-label", `${column.name} by cluster`);
  counts.forEach((own, k) => {
    const sum = own.reduce((a, b) => a + b, 0) || 1;
    const name = k < clusters.nodes.length ? clusterName(k) : "all rows";
    const y = k * tall + (k === clusters.nodes.length ? 6 : 0);
    drawing.append(draft("text", { x: left - 8, y: y + 14, "text-anchor": "end" }, fitting(name, left - 10)));
    let x = left;
    own.forEach((count, at) => {
      const width = (wide * count) / sum;
      const bar = draft("rect", { x, y: y + 2, width, height: tall - 4, fill: page.looks[at], class: "level" });
      bar.append(draft("title", {}, `${name}: ${levels[at]} ${percent(count / sum)} (${counted(count)})`));
      drawing.append(bar);
      if (width > 34) {
        const label = percent(count / sum);
        drawing.append(draft("text", { x: x + width / 2, y: y + 14, "text-anchor": "middle", class: "inside" }, label));
      }
      x += width;
    });
  });
  levels.forEach((level, at) => {
    const [x, y] = [8 + 170 * (at % across), counts.length * tall + 22 + 18 * Math.floor(at / across)];
    drawing.append(draft("rect", { x, y: y - 9, width: 10, height: 10, fill: page.looks[at] }));
    drawing.append(draft("text", { x: x + 15, y }, cut(level, 20)));
  });
  return drawing;
}

const categories = () => page.columns.filter((one) => one !== clusters && one.kind === "category" && one.names.length > 1);

function barCharts() {
  const found = categories()
    .filter((one) => one.names.length < page.n / 2)
    .slice(0, BARS);
  by("categories").hidden = !found.length;
  by("bars").replaceChildren(
    ...found.map((column) => {
      const figure = make("figure", {}, make("figcaption", {}, columnButton(column)), bars(column));
      saving(figure, column.name);
      return figure;
    }),
  );
}

// ---- curves, where the columns have an order ----

// The mean of each cluster and the middle half of its rows around it, and the mean of all rows.
function curve(k, all_, low, high) {
  const { n, labels } = page.curves;
  const own = page.curves.of(clusters.nodes[k]);
  const drawing = draft("svg", { viewBox: "0 0 260 150", class: "chart mean-curve", role: "img" });
  drawing.setAttribute("aria-label", `Mean curve of ${clusterName(k)}`);
  const x = (at) => 40 + (212 * at) / Math.max(n - 1, 1);
  const y = (value) => 126 - (104 * (value - low)) / (high - low || 1);
  const points = (values) => values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  const band = [...points(own.upper), ...points(own.lower).reverse()].join(" ");
  drawing.append(
    draft("text", { x: 40, y: 14, class: "title" }, cut(clusterName(k), 32)),
    draft("polygon", { points: band, fill: lookOf(k), "fill-opacity": 0.25 }),
    draft("polyline", { points: points(all_.mean).join(" "), class: "rest" }),
    draft("polyline", { points: points(own.mean).join(" "), fill: "none", stroke: lookOf(k), "stroke-width": 2.5 }),
    draft("text", { x: 36, y: 28, "text-anchor": "end" }, digits3(high)),
    draft("text", { x: 36, y: 128, "text-anchor": "end" }, digits3(low)),
    draft("text", { x: 40, y: 144 }, cut(labels[0], 14)),
    draft("text", { x: 252, y: 144, "text-anchor": "end" }, cut(labels.at(-1), 14)),
  );
  return drawing;
}

const digits3 = (value) => String(Number(value.toPrecision(3)));

function curves(whole = false) {
  const all_ = page.curves.of(-1);
  const shown = clusters.nodes.map((node) => page.curves.of(node));
  const low = Math.min(...shown.flatMap(({ lower }) => lower));
  const high = Math.max(...shown.flatMap(({ upper }) => upper));
  const some = clusters.nodes.slice(0, whole ? undefined : CURVES);
  by("curve-charts").replaceChildren(
    ...some.map((_, k) => {
      const figure = make("figure", {}, curve(k, all_, low, high));
      saving(figure, `curve ${k}`);
      return figure;
    }),
  );
  if (some.length === clusters.nodes.length) return;
  const button = make("button", { type: "button", textContent: `Show all ${clusters.nodes.length}` });
  button.onclick = () => curves(true);
  by("curve-charts").append(button);
}

async function readCurves() {
  const { n, places } = page.curves;
  for (const part of ["mean", "lower", "upper"]) {
    const { data, bits } = page.curves[part];
    page.curves[part].codes = await codesOf(data, bits);
  }
  const row = (part, at) =>
    Array.from({ length: n }, (_, k) => valueAt(page.curves[part], page.curves[part].codes[at * n + k]));
  page.curves.of = (node) => {
    const at = places.indexOf(node);
    return { mean: row("mean", at), lower: row("lower", at), upper: row("upper", at) };
  };
}

function charts() {
  savable();
  barCharts();
  afterLayer.push(barCharts);
  if (!page.curves) return;
  curves();
  afterLayer.push(() => curves());
}
