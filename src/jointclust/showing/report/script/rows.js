// Rows: found by id, and what is known of one.

const MANY = 500;
const NEIGHBOURS = 6;
const VALUES = 30;
const TIPPED = 8;
// Of words, those that a text has are shown, among the most telling ones.
const WORDS = 300;
const areWords = page.features[0]?.of === "word";

function hover(event) {
  const area = canvas.getBoundingClientRect();
  const px = event.clientX - area.left;
  const py = event.clientY - area.top;
  const i = nearest(px, py);
  const told = page.columns.slice(0, TIPPED);
  if (!told.includes(state.colour)) told.push(state.colour);
  tip.hidden = i < 0;
  if (i < 0) return -1;
  if (texts_.length && !document_.texts) textsReady();
  const lines = [`row ${idOf(i)}`, ...told.map((column) => `${column.name}: ${valueOf(column, i)}`)];
  tip.replaceChildren(lines.join("\n"), make("span", { className: "text" }, shortText(i)));
  tip.style.left = Math.min(px + 14, area.width - tip.offsetWidth - 4) + "px";
  tip.style.top = Math.min(py + 14, area.height - tip.offsetHeight - 4) + "px";
  return i;
}

function rowButton(i) {
  const button = make("button", { type: "button", className: "link", textContent: idOf(i) });
  button.onclick = () => pin(i);
  return button;
}

function rowFinder() {
  let lowered = null;
  const ids = page.ids ?? { length: page.n };
  if (texts_.length) by("row-search").placeholder = "by its id, or by what it says";
  by("row-search").onfocus = () => textsReady();
  finder(by("row-search"), by("row-found"), (text) => {
    lowered ??= page.ids?.map((id) => id.toLowerCase());
    const byId = search(ids, text, (_, k) => (lowered ? lowered[k] : String(k))).map(rowButton);
    if (!document_?.texts) return byId;
    const found = saying(text);
    return [...byId, ...(found.length ? [selectSaying(found)] : []), ...found.slice(0, FOUND).map(sayingButton)];
  });
}

function followRow(link) {
  pin(Number(link.dataset.row));
  by("map").scrollIntoView();
}

// Nearest rows in the directions that the page carries.
function neighbours(i) {
  const axes = page.axes.filter((axis) => !axis.layout);
  const found = [];
  const scales = axes.map((axis) => (axis.max - axis.min) / 65535);
  const own = axes.map((axis) => axis.codes[i]);
  let limit = Infinity;
  for (let j = 0; j < page.n; j++) {
    if (j === i) continue;
    let d = 0;
    for (let a = 0; a < axes.length && d < limit; a++) {
      const gap = (axes[a].codes[j] - own[a]) * scales[a];
      d += gap * gap;
    }
    if (d >= limit) continue;
    found.push([d, j]);
    if (found.length > 4 * NEIGHBOURS) {
      found.sort((a, b) => a[0] - b[0]);
      found.length = NEIGHBOURS;
      limit = found.at(-1)[0];
    }
  }
  return found
    .sort((a, b) => a[0] - b[0])
    .slice(0, NEIGHBOURS)
    .map(([, j]) => j);
}

function votesOf(i) {
  const { each, shares, clusters: chosen } = page.votes;
  const lines = [];
  for (let place = 0; place < each; place++) {
    const share = shares[place * page.n + i] / 255;
    const k = clusters.names.indexOf(String(chosen[place * page.n + i]));
    if (share < 0.01 || k < 0) continue;
    const bar = make("i", { className: "up" });
    bar.style.width = `${Math.round(100 * share)}%`;
    lines.push(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, swatch(k), " ", clusterName(k)),
        make("td", { className: "bar" }, bar),
        make("td", { className: "number", textContent: `${Math.round(100 * share)}%` }),
      ),
    );
  }
  return make("table", { className: "features" }, make("tbody", {}, ...lines));
}

function meanInside(feature, k) {
  const last = missingOf(feature);
  let sum = 0;
  let n = 0;
  for (let i = 0; i < page.n; i++) {
    if (clusters.codes[i] === k && feature.codes[i] !== last) {
      sum += feature.codes[i];
      n++;
    }
  }
  return n ? meanText(feature, valueAt(feature, sum / n)) : "";
}

function valuesOf(i, some) {
  const k = clusters.codes[i];
  const head = ["feature", "value", "mean in its cluster"];
  const rows = some.map((feature) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, featureButton(feature)),
      ...[valueOf(feature, i), meanInside(feature, k)].map((text) =>
        make("td", { className: "number", textContent: text }),
      ),
    ),
  );
  return make(
    "table",
    { className: "features" },
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col", textContent: text })))),
    make("tbody", {}, ...rows),
  );
}

// A row that is an image, where all pixels are here.
function pictureOf(i) {
  const [height, width] = page.image.shape;
  const picture = make("canvas", { width, height, className: "picture" });
  const pen = picture.getContext("2d");
  const pixels = pen.createImageData(width, height);
  const values = new Float64Array(width * height);
  for (const feature of page.features) values[feature.index] = valueAt(feature, feature.codes[i]);
  const low = Math.min(...values);
  const high = Math.max(...values);
  values.forEach((value, at) => {
    const place = page.image.order === "F" ? (at % height) * width + Math.floor(at / height) : at;
    const grey = (255 * (value - low)) / (high - low || 1);
    pixels.data.set([grey, grey, grey, 255], 4 * place);
  });
  pen.putImageData(pixels, 0, 0);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `Row ${idOf(i)} as an image`);
  return picture;
}

// All values or, where these are very many, those that are not 0: the words of a document, say.
function more(i) {
  const every = page.features.length <= MANY;
  const text = every ? `All ${counted(page.features.length)} values` : "Its values that are not 0";
  const button = make("button", { type: "button", textContent: text });
  button.onclick = async () => {
    await Promise.all(page.features.map(ready));
    const some = page.features.filter((feature) => every || valueAt(feature, feature.codes[i]) !== 0);
    button.previousElementSibling.replaceWith(valuesOf(i, some.slice(0, MANY)));
    button.remove();
  };
  return button;
}

async function pin(i) {
  state.pinned = i;
  bring(i);
  draw();
  const whole = page.image && page.features.length === page.n_features;
  const looked = page.features.slice(0, page.image ? 0 : areWords ? WORDS : VALUES);
  await Promise.all([...(whole ? page.features : looked).map(ready), textsReady()]);
  const some = looked.filter((one) => !areWords || valueAt(one, one.codes[i]) !== 0).slice(0, VALUES);
  if (state.pinned !== i) return;
  const facts = page.columns.map((column) =>
    make("div", {}, make("dt", { textContent: column.name }), make("dd", { textContent: valueOf(column, i) })),
  );
  const close = make("button", { type: "button", className: "close", textContent: "Close" });
  close.onclick = unpin;
  const parts = [
    close,
    make("h3", {}, "Row ", make("span", { className: "id", textContent: idOf(i) })),
    make("dl", { className: "facts" }, ...facts),
    ...fullTexts(i),
  ];
  if (whole) parts.push(pictureOf(i));
  if (page.votes && clusters.names.length === fitted) parts.push(make("h4", { textContent: "Votes" }), votesOf(i));
  const near = neighbours(i).flatMap((j) => [rowButton(j), " "]);
  parts.push(make("h4", { textContent: "Nearest rows" }), make("p", { className: "near" }, ...near));
  if (some.length) parts.push(make("h4", { textContent: "Values" }), valuesOf(i, some));
  if (some.length && page.features.length > looked.length) parts.push(more(i));
  by("row").replaceChildren(...parts);
  by("row").hidden = false;
  by("feature").before(by("row"));
}

function unpin() {
  state.pinned = -1;
  by("row").hidden = true;
  draw();
}

// The next row that is in sight, by its number.
function step(by_) {
  for (let k = 1; k <= page.n; k++) {
    const i = (((state.pinned + by_ * k) % page.n) + page.n) % page.n;
    if (!isHidden(i)) return pin(i);
  }
}

function pinMiddle() {
  const { w, h } = box();
  const i = nearest(w / 2, h / 2, Math.hypot(w, h));
  if (i >= 0) pin(i);
}
