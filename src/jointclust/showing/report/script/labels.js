// What stands over the points: names of clusters, names of axes, the pinned row, the path of a selection.

const LABELS = 120;
let path = [];
let printing = false;

const hue = (name) =>
  printing
    ? { "--ink": "#1b1f24", "--paper": "#ffffff", "--link": "#0b57d0" }[name]
    : getComputedStyle(document.documentElement).getPropertyValue(name);

// A category that is all over the map has no place there for its name: the half of its rows is in less than this share
// of where the half of all rows is.
const LOCAL = 0.3;

// Middles of the visible rows of each category and the half of them around it, by at most a few thousand rows.
function middles() {
  const { colour } = state;
  const each = colour.names.map(() => [[], []]);
  const xs = page.axes[view.x].codes;
  const ys = page.axes[view.y].codes;
  const step = Math.max(1, Math.floor(page.n / 20000));
  for (let i = 0; i < page.n; i += step) {
    if (isHidden(i)) continue;
    each[colour.codes[i]][0].push(xs[i]);
    each[colour.codes[i]][1].push(ys[i]);
  }
  const quarter = (values, k) => values[(k * values.length) >> 2];
  const middle = (values) => {
    values.sort((a, b) => a - b);
    return { at: quarter(values, 2), spread: quarter(values, 3) - quarter(values, 1) };
  };
  const found = each.map(([x, y]) => (x.length ? { x: middle(x), y: middle(y), size: x.length } : null));
  if (colour.looks || colour.names.length < 2) return found; // clusters, also named ones, keep their names
  const area = ({ x, y }) => x.spread * y.spread;
  const all = area({ x: middle(each.flatMap(([x]) => x)), y: middle(each.flatMap(([, y]) => y)) });
  return found.map((place) => (place && area(place) < LOCAL * all ? place : null));
}

let cached = { key: null };
function centres() {
  const key = [state.colour.codes, view.x, view.y, [...state.hiddenClusters].join(), [...state.hiddenColour].join()];
  if (!cached.key || key.some((part, k) => part !== cached.key[k])) cached = { key, found: middles() };
  return cached.found;
}

const cut = (text, most = 32) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

const nameSize = () => Math.round(13 * growth());
const nameFont = () => `600 ${nameSize()}px system-ui, sans-serif`;

// A long name in two lines, the first of which ends at the comma or else at the blank that is nearest to the middle.
function broken(text) {
  if (text.length <= 24) return [text];
  const places = (sign) => [...text].flatMap((letter, at) => (letter === sign && at > 7 && at < text.length - 8 ? [at] : []));
  const middle = (found) => found.sort((a, b) => Math.abs(a - text.length / 2) - Math.abs(b - text.length / 2))[0];
  const at = middle(places(",")) ?? middle(places(" "));
  if (at === undefined) return [cut(text)];
  const first = text[at] === "," ? at + 1 : at;
  return [cut(text.slice(0, first)), cut(text.slice(first).trim())];
}

// Names at the centres, the largest cluster first; one that would lie over another, or over the middle of another
// cluster, moves aside, or stays away.
function placedNames(pen) {
  const { w, h } = box();
  const t = transform();
  const line = nameSize() + 5;
  const taken = [];
  const found = [];
  if (state.colour.kind !== "category" || state.colour.names.length > LABELS) return found;
  const order = centres()
    .map((place, k) => place && { place, k, x: (place.x.at / 65535) * t.sx + t.ox, y: (place.y.at / 65535) * t.sy + t.oy })
    .filter(Boolean)
    .sort((a, b) => b.place.size - a.place.size);
  for (const { place, k, x, y } of order) {
    const lines = broken(nameAt(state.colour, k));
    const width = Math.max(...lines.map((text) => pen.measureText(text).width)) + 8;
    const tall = line * lines.length;
    const hides = (area) =>
      order.some((o) => o.k !== k && o.x > area[0] - 3 && o.x < area[2] + 3 && o.y > area[1] - 3 && o.y < area[3] + 3);
    const high = (place.y.spread / 65535) * Math.abs(t.sy);
    // A name over a few rows that lie close together would hide them all.
    const dense = high < tall + 6 && (place.x.spread / 65535) * t.sx < width;
    const away = Math.max(tall, (pointSize() + tall + high) / 2 + 4);
    if (x < 0 || x > w || y < 0 || y > h) continue;
    for (const [dx, dy] of [
      ...(dense ? [] : [[0, 0]]),
      [0, -away],
      [0, away],
      [-width / 2 - 6, 0],
      [width / 2 + 6, 0],
      [0, -2 * tall],
      [0, 2 * tall],
    ]) {
      const a = Math.max(width / 2, Math.min(w - width / 2, x + dx));
      const b = Math.max(tall / 2, Math.min(h - 20 - tall / 2, y + dy));
      const area = [a - width / 2, b - tall / 2, a + width / 2, b + tall / 2];
      if (taken.some((other) => area[0] < other[2] && other[0] < area[2] && area[1] < other[3] && other[1] < area[3]))
        continue;
      if (hides(area)) continue;
      taken.push(area);
      const top = b - (line * (lines.length - 1)) / 2;
      lines.forEach((text, place) => found.push({ text, x: a, y: top + place * line, kind: "name", of: k }));
      break;
    }
  }
  return found;
}

function axisName(axis) {
  const share = axis.share ? ` (${Math.round(100 * axis.share)}%)` : "";
  const like = axis.like?.map(([name, r]) => `${cut(name, 24)} ${r > 0 ? "+" : "−"}`).join(", ");
  return axis.name + share + (like ? `: ${like}` : "");
}

// All texts on the map, in pixels.
function texts(pen) {
  const { w, h } = box();
  pen.font = nameFont();
  const said = "neighbour map: rows that are near are alike; how far groups are apart says little";
  if (page.axes[view.x].layout) {
    return [{ text: w > 560 ? said : "neighbour map", x: w / 2, y: h - 10, kind: "axis" }, ...placedNames(pen)];
  }
  return [
    { text: cut(axisName(page.axes[view.x]), Math.floor(w / 8)), x: w / 2, y: h - 10, kind: "axis" },
    { text: cut(axisName(page.axes[view.y]), Math.floor(h / 8)), x: 11, y: h / 2, kind: "axis", up: true },
    ...placedNames(pen),
  ];
}

function decorate() {
  const { w, h, dpr } = box();
  const pen = overlay.getContext("2d");
  const ink = hue("--ink");
  const paper = hue("--paper");
  pen.setTransform(dpr, 0, 0, dpr, 0, 0);
  pen.clearRect(0, 0, w, h);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const { text, x, y, kind, up } of texts(pen)) {
    pen.save();
    pen.translate(x, y);
    if (up) pen.rotate(-Math.PI / 2);
    pen.font = kind === "axis" ? "12px system-ui, sans-serif" : nameFont();
    pen.strokeStyle = paper;
    pen.lineWidth = 4;
    pen.strokeText(text, 0, 0);
    pen.fillStyle = ink;
    pen.fillText(text, 0, 0);
    pen.restore();
  }
  if (state.pinned >= 0) ring(pen, ...placeOf(state.pinned), ink, paper);
  if (canvas.matches(":focus-visible")) cross(pen, w / 2, h / 2, ink);
  trace(pen);
}

function ring(pen, x, y, ink, paper) {
  for (const [colour, width] of [
    [paper, 5],
    [ink, 2.5],
  ]) {
    pen.beginPath();
    pen.arc(x, y, pointSize() / 2 + 5, 0, 7);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke();
  }
}

function cross(pen, x, y, ink) {
  pen.beginPath();
  for (const [dx, dy] of [
    [1, 0],
    [0, 1],
  ]) {
    pen.moveTo(x - 9 * dx, y - 9 * dy);
    pen.lineTo(x + 9 * dx, y + 9 * dy);
  }
  pen.strokeStyle = ink;
  pen.lineWidth = 1;
  pen.stroke();
}

function trace(pen) {
  if (!path.length) return;
  pen.beginPath();
  path.forEach(([x, y]) => pen.lineTo(x, y));
  pen.closePath();
  pen.strokeStyle = hue("--link");
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.stroke();
  pen.setLineDash([]);
}
