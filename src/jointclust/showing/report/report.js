"use strict";
// The map of a report. Points are drawn by WebGL2, or by a plain canvas where there is none.

const page = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const stage = by("stage"), canvas = by("points"), overlay = by("overlay"), tip = by("tip");
const SHAPES = 4, PLAIN_LIMIT = 100000, CELLS = 256, REACH = 12, FRAME = 60, SHARE = 10, TAP = 4;

// ---- data ----

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return new Blob([out]).stream().pipeThrough(new DecompressionStream("gzip"));
}
const buffer = (text) => new Response(bytes(text)).arrayBuffer();

async function unpack() {
  for (const axis of page.axes) axis.values = new Uint16Array(await buffer(axis.data));
  for (const column of page.columns) {
    column.codes = new (column.bits === 8 ? Uint8Array : Uint16Array)(await buffer(column.data));
  }
  if (page.ids) page.ids = JSON.parse(await new Response(bytes(page.ids)).text());
}

const idOf = (i) => (page.ids ? page.ids[i] : String(i));
const clusters = page.columns[0];

function valueOf(column, i) {
  const code = column.codes[i];
  if (column.kind === "category") return column.names[code];
  if (code === 255) return "missing";
  return "≈ " + Number((column.min + (code / 254) * (column.max - column.min)).toPrecision(3));
}

// ---- state ----

const view = { x: 0, y: 1, zoom: 1, cx: 0, cy: 0 };
let colour = clusters, hiddenColour = new Set(), hiddenClusters = new Set(), mode = "move";
let selected = null, grid = null, painter = null, waiting = false;

function box() { return { w: stage.clientWidth, h: stage.clientHeight, dpr: window.devicePixelRatio || 1 }; }

// Both axes have one scale: distances on the map are distances in the embedding.
function transform() {
  const a = page.axes[view.x], b = page.axes[view.y], { w, h } = box();
  const spanX = a.max - a.min || 1, spanY = b.max - b.min || 1;
  const unit = 0.92 * Math.min(w / spanX, h / spanY) * view.zoom;  // pixels per unit of the embedding
  return {
    sx: spanX * unit, sy: -spanY * unit,
    ox: w / 2 - (spanX / 2 + view.cx) * unit, oy: h / 2 + (spanY / 2 + view.cy) * unit, unit,
  };
}

function pointSize() {
  const n = page.n, base = n < 2000 ? 8 : n < 20000 ? 5.5 : n < 200000 ? 3.5 : 2;
  return base * Math.min(3, Math.pow(view.zoom, 0.3));
}

function rgb(hex) { return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)); }

function colours() {
  if (colour.kind === "category") {
    return colour.names.map((_, k) => rgb(page.palette[k % page.palette.length]));
  }
  const anchors = page.scale.map(rgb), last = anchors.length - 1, out = [];
  for (let k = 0; k < 255; k++) {
    const place = (k / 254) * last, low = Math.min(Math.floor(place), last - 1), t = place - low;
    out.push(anchors[low].map((v, c) => Math.round(v + t * (anchors[low + 1][c] - v))));
  }
  return [...out, [128, 128, 128]];
}

const shapeOf = (k) => (colour.kind === "category" ? Math.floor(k / page.palette.length) % SHAPES : 0);
const isHidden = (i) => hiddenClusters.has(clusters.codes[i]) ||
  (colour.kind === "category" && hiddenColour.has(colour.codes[i]));

// ---- which point is where ----

function buildGrid() {
  const xs = page.axes[view.x].values, ys = page.axes[view.y].values;
  const start = new Uint32Array(CELLS * CELLS + 1), order = new Uint32Array(page.n);
  const cell = (i) => (ys[i] >> 8) * CELLS + (xs[i] >> 8);
  for (let i = 0; i < page.n; i++) start[cell(i) + 1]++;
  for (let k = 0; k < CELLS * CELLS; k++) start[k + 1] += start[k];
  const next = start.slice();
  for (let i = 0; i < page.n; i++) order[next[cell(i)]++] = i;
  return { xs, ys, start, order };
}

function nearest(px, py) {
  grid ??= buildGrid();
  const t = transform(), { xs, ys, start, order } = grid;
  const u = ((px - t.ox) / t.sx) * 65535, v = ((py - t.oy) / t.sy) * 65535;
  const du = (REACH / Math.abs(t.sx)) * 65535, dv = (REACH / Math.abs(t.sy)) * 65535;
  const cut = (value) => Math.max(0, Math.min(CELLS - 1, value >> 8));
  let best = -1, least = REACH * REACH;
  for (let row = cut(v - dv); row <= cut(v + dv); row++) {
    const from = start[row * CELLS + cut(u - du)], to = start[row * CELLS + cut(u + du) + 1];
    for (let k = from; k < to; k++) {
      const i = order[k], x = ((xs[i] - u) / 65535) * t.sx, y = ((ys[i] - v) / 65535) * t.sy, d = x * x + y * y;
      if (d < least && !isHidden(i)) { least = d; best = i; }
    }
  }
  return best;
}

function hover(event) {
  const area = canvas.getBoundingClientRect(), px = event.clientX - area.left, py = event.clientY - area.top;
  const i = nearest(px, py);
  tip.hidden = i < 0;
  if (i < 0) return;
  tip.textContent = [`row ${idOf(i)}`, ...page.columns.map((c) => `${c.name}: ${valueOf(c, i)}`)].join("\n");
  tip.style.left = Math.min(px + 14, area.width - tip.offsetWidth - 4) + "px";
  tip.style.top = Math.min(py + 14, area.height - tip.offsetHeight - 4) + "px";
}

// ---- selection ----

function select(test) {
  const flags = new Uint8Array(page.n);
  let count = 0;
  for (let i = 0; i < page.n; i++) if (!isHidden(i) && test(i)) { flags[i] = 1; count++; }
  show(count ? flags : null, count);
}

function show(flags, count) {
  selected = flags;
  painter.select(flags);
  by("selection").hidden = !flags;
  if (flags) {
    const sizes = clusters.names.map(() => 0);
    for (let i = 0; i < page.n; i++) if (flags[i]) sizes[clusters.codes[i]]++;
    by("count").textContent = `${count.toLocaleString("en")} rows selected`;
    by("parts").textContent = "in " + sizes.map((s, k) => [s, k]).filter(([s]) => s).sort((a, b) => b[0] - a[0])
      .slice(0, 8).map(([s, k]) => `cluster ${clusters.names[k]}: ${s.toLocaleString("en")}`).join(", ");
  }
  draw();
}

function inside(path) {
  const t = transform(), xs = page.axes[view.x].values, ys = page.axes[view.y].values;
  return (i) => {
    const x = (xs[i] / 65535) * t.sx + t.ox, y = (ys[i] / 65535) * t.sy + t.oy;
    let odd = false;
    for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
      const [ax, ay] = path[a], [bx, by_] = path[b];
      if (ay > y !== by_ > y && x < ((bx - ax) * (y - ay)) / (by_ - ay) + ax) odd = !odd;
    }
    return odd;
  };
}

function download() {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = ["id,cluster"];
  for (let i = 0; i < page.n; i++) {
    if (selected[i]) lines.push(`${quoted(idOf(i))},${clusters.names[clusters.codes[i]]}`);
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
  link.download = "selected.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}

// ---- legend ----

function legend() {
  const place = by("legend");
  place.replaceChildren();
  if (colour.kind === "number") {
    const ramp = document.createElement("div"), ends = document.createElement("div");
    ramp.className = "ramp wide";
    ramp.style.background = `linear-gradient(to right, ${page.scale.join(",")})`;
    ends.className = "ends wide";
    for (const value of [colour.min, colour.max]) {
      ends.append(Object.assign(document.createElement("span"), { textContent: Number(value.toPrecision(4)) }));
    }
    place.append(ramp, ends);
    return;
  }
  const all = Object.assign(document.createElement("button"), { type: "button", className: "all wide" });
  const hidden = colour === clusters ? hiddenClusters : hiddenColour;
  all.textContent = hidden.size ? "Show all" : "Hide all";
  all.onclick = () => {
    const fill = !hidden.size;
    hidden.clear();
    if (fill) colour.names.forEach((_, k) => hidden.add(k));
    legend();
    draw();
  };
  place.append(all);
  colour.names.forEach((name, k) => place.append(entry(name, k, hidden)));
}

function entry(name, k, hidden) {
  const button = document.createElement("button"), swatch = document.createElement("i"), size = document.createElement("small");
  button.type = "button";
  button.setAttribute("aria-pressed", !hidden.has(k));
  swatch.className = `swatch s${shapeOf(k)}`;
  swatch.style.background = page.palette[k % page.palette.length];
  size.textContent = colour.sizes[k].toLocaleString("en");
  button.append(swatch, name, size);
  button.onclick = () => {
    if (!hidden.delete(k)) hidden.add(k);
    button.setAttribute("aria-pressed", !hidden.has(k));
    by("legend").firstChild.textContent = hidden.size ? "Show all" : "Hide all";
    draw();
  };
  return button;
}

// ---- hands ----

function zoomAt(factor, px, py) {
  const { w, h } = box(), before = transform();
  view.zoom = Math.max(0.5, Math.min(200, view.zoom * factor));
  const after = transform();
  view.cx += (px - w / 2) * (1 / before.unit - 1 / after.unit);
  view.cy -= (py - h / 2) * (1 / before.unit - 1 / after.unit);
  draw(true);
}
const zoom = (factor) => zoomAt(factor, box().w / 2, box().h / 2);
function move(dx, dy) { const { unit } = transform(); view.cx -= dx / unit; view.cy += dy / unit; draw(true); }
function reset() { Object.assign(view, { zoom: 1, cx: 0, cy: 0 }); draw(); }

function trace(path) {
  const { dpr } = box(), pen = overlay.getContext("2d");
  pen.setTransform(dpr, 0, 0, dpr, 0, 0);
  pen.clearRect(0, 0, overlay.width, overlay.height);
  if (!path.length) return;
  pen.beginPath();
  path.forEach(([x, y]) => pen.lineTo(x, y));
  pen.closePath();
  pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--link");
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.stroke();
}

function hands() {
  const fingers = new Map();
  let path = null, first = null, spread = 0;
  const at = (event) => { const r = canvas.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
  const gap = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    first = at(event);
    path = mode === "move" && !event.shiftKey ? null : [first];
    if (fingers.size === 2) { path = null; spread = gap(); }
    tip.hidden = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) { hover(event); return; }
    const [x, y] = at(event), [oldX, oldY] = fingers.get(event.pointerId);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const now = gap();
      zoomAt(now / spread, x, y);
      spread = now;
    } else if (!path) move(x - oldX, y - oldY);
    else {
      if (mode === "lasso") path.push([x, y]);
      else path = [first, [x, first[1]], [x, y], [first[0], y]];
      trace(path);
    }
  });
  const end = (event) => {
    fingers.delete(event.pointerId);
    if (path && path.length > 2) select(inside(path));
    const [x, y] = at(event);
    if (Math.hypot(x - first[0], y - first[1]) < TAP) hover(event);  // a finger has no other way to ask
    path = null;
    trace([]);
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") tip.hidden = true; });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY * 0.0015), ...at(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const act = {
      ArrowLeft: () => move(40, 0), ArrowRight: () => move(-40, 0), ArrowUp: () => move(0, 40), ArrowDown: () => move(0, -40),
      "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: reset, Escape: () => show(null, 0),
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
}

function controls() {
  const fill = (list, items, chosen, change) => {
    items.forEach((item, k) => list.append(new Option(item.name, k, k === chosen, k === chosen)));
    list.onchange = () => change(Number(list.value));
  };
  const paint = (k) => { colour = page.columns[k]; hiddenColour.clear(); by("colour").value = k; legend(); draw(); };
  fill(by("colour"), page.columns, 0, paint);
  fill(by("across"), page.axes, 0, (k) => { view.x = k; grid = null; draw(); });
  fill(by("up"), page.axes, 1, (k) => { view.y = k; grid = null; draw(); });
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.onclick = () => {
      mode = button.dataset.mode;
      document.querySelectorAll("[data-mode]").forEach((b) => b.setAttribute("aria-pressed", b === button));
    };
  }
  by("in").onclick = () => zoom(1.3);
  by("out").onclick = () => zoom(1 / 1.3);
  by("reset").onclick = reset;
  by("clear").onclick = () => show(null, 0);
  by("download").onclick = download;
  const code = (label) => clusters.names.indexOf(label);
  for (const button of document.querySelectorAll("[data-only]")) {
    button.onclick = () => {
      hiddenClusters = new Set(clusters.names.map((_, k) => k).filter((k) => k !== code(button.dataset.only)));
      paint(0);
      stage.scrollIntoView({ block: "center" });
    };
  }
  for (const button of document.querySelectorAll("[data-select]")) {
    button.onclick = () => {
      hiddenClusters.clear();
      paint(0);
      select((i) => clusters.codes[i] === code(button.dataset.select));
      stage.scrollIntoView({ block: "center" });
    };
  }
}

function theme() {
  // The style has the dark colours for readers who ask for them; from the first click on, the button decides.
  const { media } = [...document.styleSheets[0].cssRules].find((rule) => rule.media?.mediaText.includes("dark"));
  by("theme").onclick = () => { media.mediaText = window.matchMedia(media.mediaText).matches ? "not all" : "all"; };
}

async function start() {
  theme();

  try {
    await unpack();
  } catch (error) {
    tell("This browser is too old to unpack the map: all that is below still holds.");
    return;
  }
  painter = glPainter() ?? plainPainter();
  controls();
  legend();
  hands();
  new ResizeObserver(resize).observe(stage);
  resize();
  if (page.n > PLAIN_LIMIT) measure();
  document.documentElement.dataset.ready = "yes";
}
start();
