// What is in sight: the part of the plane, the colour, what is hidden, and which row is where.

const stage = by("stage");
const canvas = by("points");
const overlay = by("overlay");
const tip = by("tip");
const CELLS = 256;
const REACH = 12;
const PLAIN_LIMIT = 100000;

const view = { x: 0, y: 1, zoom: 1, cx: 0, cy: 0 };
const state = {
  colour: clusters,
  hiddenClusters: new Set(),
  hiddenColour: new Set(),
  mode: "move",
  selected: null,
  pinned: -1,
};
let grid = null;
let painter = null;

function box() {
  return { w: stage.clientWidth, h: stage.clientHeight, dpr: window.devicePixelRatio || 1 };
}

// Both axes have one scale: distances on the map are distances in the embedding.
function transform() {
  const a = page.axes[view.x];
  const b = page.axes[view.y];
  const { w, h } = box();
  const spanX = a.max - a.min || 1;
  const spanY = b.max - b.min || 1;
  const unit = 0.9 * Math.min((w - 20) / spanX, (h - 20) / spanY) * view.zoom; // pixels per unit of the embedding
  return {
    sx: spanX * unit,
    sy: -spanY * unit,
    ox: w / 2 + 8 - (spanX / 2 + view.cx) * unit,
    oy: h / 2 - 8 + (spanY / 2 + view.cy) * unit,
    unit,
  };
}

function placeOf(i, t = transform()) {
  return [(page.axes[view.x].codes[i] / 65535) * t.sx + t.ox, (page.axes[view.y].codes[i] / 65535) * t.sy + t.oy];
}

// Points and letters grow with the map.
const growth = () => Math.max(1, Math.sqrt(Math.min(box().w, box().h) / 640));

function pointSize() {
  const n = page.n;
  const base = n < 500 ? 10 : n < 2000 ? 8 : n < 20000 ? 5.5 : n < 200000 ? 3.5 : 2.5;
  return base * Math.min(3, Math.pow(view.zoom, 0.3)) * growth();
}

const isHidden = (i) =>
  state.hiddenClusters.has(clusters.codes[i]) ||
  (state.colour.kind === "category" && state.hiddenColour.has(state.colour.codes[i]));

// ---- which point is where ----

function buildGrid() {
  const xs = page.axes[view.x].codes;
  const ys = page.axes[view.y].codes;
  const start = new Uint32Array(CELLS * CELLS + 1);
  const order = new Uint32Array(page.n);
  const at = (i) => (ys[i] >> 8) * CELLS + (xs[i] >> 8);
  for (let i = 0; i < page.n; i++) start[at(i) + 1]++;
  for (let k = 0; k < CELLS * CELLS; k++) start[k + 1] += start[k];
  const next = start.slice();
  for (let i = 0; i < page.n; i++) order[next[at(i)]++] = i;
  return { xs, ys, start, order };
}

function nearest(px, py, reach = REACH) {
  grid ??= buildGrid();
  const t = transform();
  const { xs, ys, start, order } = grid;
  const u = ((px - t.ox) / t.sx) * 65535;
  const v = ((py - t.oy) / t.sy) * 65535;
  const du = (reach / Math.abs(t.sx)) * 65535;
  const dv = (reach / Math.abs(t.sy)) * 65535;
  const cut = (value) => Math.max(0, Math.min(CELLS - 1, Math.floor(value / 256)));
  let best = -1;
  let least = reach * reach;
  for (let row = cut(v - dv); row <= cut(v + dv); row++) {
    const from = start[row * CELLS + cut(u - du)];
    const to = start[row * CELLS + cut(u + du) + 1];
    for (let k = from; k < to; k++) {
      const i = order[k];
      const x = ((xs[i] - u) / 65535) * t.sx;
      const y = ((ys[i] - v) / 65535) * t.sy;
      const d = x * x + y * y;
      if (d < least && !isHidden(i)) {
        least = d;
        best = i;
      }
    }
  }
  return best;
}

// ---- moving ----

function zoomAt(factor, px, py) {
  const { w, h } = box();
  const before = transform();
  view.zoom = Math.max(0.5, Math.min(200, view.zoom * factor));
  const after = transform();
  view.cx += (px - w / 2) * (1 / before.unit - 1 / after.unit);
  view.cy -= (py - h / 2) * (1 / before.unit - 1 / after.unit);
  draw(true);
}
const zoom = (factor) => zoomAt(factor, box().w / 2, box().h / 2);
function move(dx, dy) {
  const { unit } = transform();
  view.cx -= dx / unit;
  view.cy += dy / unit;
  draw(true);
}
function reset() {
  Object.assign(view, { zoom: 1, cx: 0, cy: 0 });
  draw();
}

// A row that is out of sight comes into the middle.
function bring(i) {
  const { w, h } = box();
  const t = transform();
  const [x, y] = placeOf(i, t);
  if (x > 30 && x < w - 30 && y > 30 && y < h - 30) return;
  view.cx += (x - w / 2) / t.unit;
  view.cy -= (y - h / 2) / t.unit;
}

// ---- colour ----

function setColour(column) {
  state.colour = column;
  state.hiddenColour.clear();
  const list = by("colour");
  const known = [...list.options].find((option) => option.column === column);
  if (known) list.value = known.value;
  else {
    list.querySelector("option.other")?.remove();
    const option = make("option", { className: "other", value: "other", textContent: column.name, column });
    list.append(option);
    list.value = "other";
  }
  showLegend();
  draw();
}

// A feature with what is known of it, in the panel.
async function colourBy(feature) {
  await ready(feature);
  setColour(feature);
  showFeature(feature);
}
