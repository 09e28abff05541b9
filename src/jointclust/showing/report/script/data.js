"use strict";
// The data of a report, and small helpers. Whatever comes from the data reaches the page as text, never as HTML.

const page = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
const all = (query) => [...document.querySelectorAll(query)];
const counted = (number) => number.toLocaleString("en");
const digits = (value) => String(Number(value.toPrecision(4)));

function make(tag, properties = {}, ...children) {
  const found = Object.assign(document.createElement(tag), properties);
  found.append(...children);
  return found;
}

function draft(tag, attributes = {}, ...children) {
  const found = document.createElementNS(by("blank").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

// ---- unpacking ----

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return new Blob([out]).stream().pipeThrough(new DecompressionStream("gzip"));
}

// Numbers of one byte, or of two, of which all low ones come first.
async function codesOf(text, bits) {
  const raw = new Uint8Array(await new Response(bytes(text)).arrayBuffer());
  if (bits === 8) return raw;
  const n = raw.length / 2;
  const out = new Uint16Array(n);
  for (let i = 0; i < n; i++) out[i] = raw[i] | (raw[n + i] << 8);
  return out;
}

async function unpack() {
  const parts = [...page.axes, ...page.columns, ...(page.tree ? [page.tree] : [])];
  await Promise.all(
    parts.map(async (part) => {
      part.codes = await codesOf(part.data, part.bits);
      part.data = null;
    }),
  );
  if (page.ids) page.ids = JSON.parse(await new Response(bytes(page.ids)).text());
  if (page.votes) {
    page.votes.clusters = await codesOf(page.votes.clusters, page.votes.bits);
    page.votes.shares = await codesOf(page.votes.shares, 8);
  }
}

// Features are unpacked when they are first looked at.
function ready(feature) {
  feature.waiting ??= codesOf(feature.data, feature.bits).then((codes) => {
    feature.codes = codes;
    feature.data = null;
    return feature;
  });
  return feature.waiting;
}

// ---- columns ----

const clusters = page.columns[0];
const classes = page.columns.find((column) => column.name === "class" && column.kind === "category");
const featureAt = new Map(page.features.map((feature) => [feature.index, feature]));
const names = new Map(); // of clusters, where the reader gave one
const idOf = (i) => (page.ids ? page.ids[i] : String(i));
const missingOf = (column) => (column.bits === 8 ? 255 : 65535);
const valueAt = (column, code) => column.min + code * column.step;
const clusterName = (k) => names.get(k) ?? `Cluster ${clusters.names[k]}`;

function nameAt(column, k) {
  return column === clusters ? (names.get(k) ?? column.names[k]) : column.names[k];
}

function valueOf(column, i) {
  const code = column.codes[i];
  if (column.kind === "category") return nameAt(column, code);
  return code === missingOf(column) ? "missing" : digits(valueAt(column, code));
}

// Where the colours of a column of numbers begin and end: all but the last half per cent on both sides.
function limits(column) {
  if (column.limits) return column.limits;
  const last = missingOf(column);
  const counts = new Uint32Array(last + 1);
  for (let i = 0; i < page.n; i++) counts[column.codes[i]]++;
  const known = page.n - counts[last];
  const reach = (share) => {
    let sum = 0;
    let k = 0;
    while (k < last && (sum += counts[k]) <= share * known) k++;
    return k;
  };
  let most = last - 1;
  while (most > 0 && !counts[most]) most--;
  let low = reach(0.005);
  let high = Math.min(reach(0.995), most);
  if (high <= low) [low, high] = [0, Math.max(most, 1)];
  return (column.limits = { low, high, cutLow: low > 0, cutHigh: high < most, missing: counts[last] });
}

// What is drawn: the number of a colour for each row.
function inksOf(column) {
  if (column.kind === "category") return column.codes;
  if (column.inks) return column.inks;
  const { low, high } = limits(column);
  const last = missingOf(column);
  const out = new Uint8Array(page.n);
  for (let i = 0; i < page.n; i++) {
    const code = column.codes[i];
    out[i] = code === last ? 255 : Math.round((254 * (Math.max(low, Math.min(high, code)) - low)) / (high - low));
  }
  return (column.inks = out);
}

// ---- colours ----

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const lookOf = (k) => page.looks[k % page.looks.length];
const shapeOf = (k) => Math.floor(k / page.turn) % 4;

// The colours of small numbers are dark: on dark paper they are a little lighter.
function scale() {
  const last = page.scale.length - 1;
  const share = (k) => (onDark() ? 0.2 * (1 - k / last) : 0);
  return page.scale.map((hex, k) => rgb(hex).map((value) => Math.round(value + share(k) * (255 - value))));
}

function ramp() {
  const anchors = scale();
  const last = anchors.length - 1;
  const out = [];
  for (let k = 0; k < 255; k++) {
    const place = (k / 254) * last;
    const low = Math.min(Math.floor(place), last - 1);
    out.push(anchors[low].map((value, c) => Math.round(value + (place - low) * (anchors[low + 1][c] - value))));
  }
  return [...out, [128, 128, 128]];
}

const coloursOf = (column) => (column.kind === "category" ? column.names.map((_, k) => rgb(lookOf(k))) : ramp());

function swatch(k) {
  const found = make("i", { className: `swatch s${shapeOf(k)}` });
  found.style.background = lookOf(k);
  return found;
}

// ---- files ----

function save(name, content, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A cell that a spreadsheet would take for a formula is marked as text.
function cell(value) {
  let text = String(value);
  if (/^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text))) text = "'" + text;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
