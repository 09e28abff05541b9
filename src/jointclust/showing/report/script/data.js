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

// Dates are numbers of days; columns that are shown with the rows are columns to colour by.
for (const column of page.shown) {
  if (column.kind === "date") Object.assign(column, { kind: "number", of: "date" });
  if (column.kind !== "text") page.columns.push(column);
}

async function unpack() {
  const parts = [...page.axes, ...page.columns, ...(page.tree ? [page.tree] : [])];
  await Promise.all(
    parts.map(async (part) => {
      part.codes = await codesOf(part.data, part.bits);
      part.data = null;
    }),
  );
  if (page.curves) await readCurves();
  if (page.ids) page.ids = JSON.parse(await new Response(bytes(page.ids)).text());
  if (page.votes) {
    page.votes.clusters = await codesOf(page.votes.clusters, page.votes.bits);
    page.votes.shares = await codesOf(page.votes.shares, 8);
  }
}

// Features are unpacked when they are first looked at.
function ready(feature) {
  feature.waiting ??= codesOf(feature.data, feature.bits).then(async (codes) => {
    feature.codes = codes;
    feature.data = null;
    if (feature.filled) await markFilled(feature);
    return feature;
  });
  return feature.waiting;
}

// A value that was filled in is no value of the data: it is missing from all that is computed, and shown as what it is.
async function markFilled(feature) {
  const filled = await codesOf(feature.filled, 8);
  feature.guesses = feature.codes.slice();
  for (let i = 0; i < page.n; i++) if (filled[i]) feature.codes[i] = missingOf(feature);
}

// ---- columns ----

const clusters = page.columns[0];
const classes = page.columns.find((column) => column.name === "class" && column.kind === "category");
const featureAt = new Map(page.features.map((feature) => [feature.index, feature]));
const names = new Map(); // of clusters, by node, where the reader gave one
const idOf = (i) => (page.ids ? page.ids[i] : String(i));
const missingOf = (column) => (column.bits === 8 ? 255 : 65535);
const valueAt = (column, code) => column.min + code * column.step;
// A cluster is a node of the tree: it has the same name, colour and card at every number of clusters.
const nodeName = (node) => names.get(node) ?? page.names[node];
const clusterName = (k) => nodeName(clusters.nodes[k]);
const nameAt = (column, k) => (column === clusters ? clusterName(k) : column.names[k] || "(empty)");

// A value in the words of its column: dates as such, and whether a row has a level.
function spoken(column, value) {
  if (column.of === "level") return value ? "yes" : "no";
  return column.of === "date" ? new Date(864e5 * value).toISOString().slice(0, 10) : digits(value);
}

function valueOf(column, i) {
  const code = column.codes[i];
  if (column.kind === "category") return nameAt(column, code);
  if (code !== missingOf(column)) return spoken(column, valueAt(column, code));
  const guess = column.guesses?.[i] ?? code;
  return guess === code ? "missing" : `missing (filled in: ${meanText(column, valueAt(column, guess))})`;
}

const isKnown = (column, i) => column.kind === "category" || column.codes[i] !== missingOf(column);

// A small share is not none, and a large one not all.
const percent = (share) =>
  share > 0 && share < 0.005 ? "<1%" : share >= 0.995 && share < 1 ? ">99%" : `${Math.round(100 * share)}%`;
// The mean of rows that have a level or not is their share.
const meanText = (column, value) => (column.of === "level" ? percent(value) : spoken(column, value));

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
const looksAt = (column, k) => column.looks?.[k] ?? k;
const lookOf = (k, column = clusters) => page.looks[looksAt(column, k) % page.looks.length];
const shapeOf = (k, column = clusters) => Math.floor(looksAt(column, k) / page.turn) % 4;

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

const coloursOf = (column) => (column.kind === "category" ? column.names.map((_, k) => rgb(lookOf(k, column))) : ramp());

function swatch(k, column = clusters) {
  const found = make("i", { className: `swatch s${shapeOf(k, column)}` });
  found.style.background = lookOf(k, column);
  return found;
}

// ---- files ----

function save(name, content, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Where a cell, or a part that it may split into, begins a formula in a spreadsheet; as in cli/writing.py.
const FORMULA =
  /((?:^|[;,|\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029])[\s"\0-\x1f\x7f-\xa0\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]*)(?='*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/g;

// A cell that a spreadsheet would take for a formula is marked as text.
function cell(value) {
  let text = String(value);
  if (!Number.isFinite(Number(text))) text = text.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const csv = (rows) => rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
