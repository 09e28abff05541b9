// The number of clusters: a tree of clusters, a slider that cuts it, and all that changes with the cut.

const leaves = page.tree ? page.tree.joins.length + 1 : 0;
const fitted = clusters.names.length;
const afterLayer = []; // what is drawn anew when the clusters change
const SPLITS = { supported: "is supported by the data", doubtful: "is doubtful" };

// Number of the cluster that each leaf is in when the tree is cut into so many.
function cutInto(count) {
  const sets = new Map(Array.from({ length: leaves }, (_, leaf) => [leaf, [leaf]]));
  page.tree.joins.slice(0, leaves - count).forEach(([a, b], step_) => {
    sets.set(leaves + step_, [...sets.get(a), ...sets.get(b)]);
    sets.delete(a);
    sets.delete(b);
  });
  const number = new Uint16Array(leaves);
  [...sets.values()]
    .sort((a, b) => Math.min(...a) - Math.min(...b))
    .forEach((own, k) => own.forEach((leaf) => (number[leaf] = k)));
  return number;
}

const layers = new Map();
function layerColumn(count) {
  if (!layers.has(count)) layers.set(count, madeLayer(count));
  return layers.get(count);
}

function madeLayer(count) {
  const number = cutInto(count);
  const codes = new Uint16Array(page.n);
  const sizes = new Array(count).fill(0);
  for (let i = 0; i < page.n; i++) sizes[(codes[i] = number[page.tree.codes[i]])]++;
  const nodes = page.tree.layers[count - 1];
  return { names: nodes.map((_, k) => String(k)), sizes, codes, bits: 16, nodes, looks: looksOf(nodes) };
}

const looksOf = (nodes) => nodes.map((node) => page.tree?.looks[node] ?? node);
const numberOf = (node) => clusters.nodes.indexOf(Number(node));

// ---- what is there once for each cluster: lines, cards, cells ----

// Those of other numbers of clusters wait in a template inside of the place where they belong.
const racks = all("[data-rack]").map((rack) => {
  const spare = rack.querySelector(":scope > template");
  const own = new Map();
  for (const child of [...rack.children, ...(spare?.content.children ?? [])])
    if (child.dataset.node) own.set(Number(child.dataset.node), child);
  return { rack, spare, own };
});

function stock(nodes) {
  const wanted = new Set(nodes);
  for (const { rack, spare, own } of racks) {
    for (const [node, element] of own) if (!wanted.has(node) && element.parentNode === rack) element.remove();
    const found = nodes.filter((node) => own.has(node)).map((node) => own.get(node));
    if (spare) spare.before(...found);
    else rack.append(...found);
  }
  for (const place of all("[data-number]")) place.textContent = numberOf(place.closest("[data-node]").dataset.node);
}

// Cards are closed where they would be many on this screen.
function fold() {
  const most = window.innerWidth < 720 ? 3 : 12;
  all("details.card").forEach((card) => (card.open = clusters.names.length <= most));
}

function setLayer(count) {
  Object.assign(clusters, layerColumn(count));
  state.hiddenClusters.clear();
  stock(clusters.nodes);
  for (const place of all("[data-count]")) place.textContent = counted(count);
  for (const part of all("[data-fitted]")) part.hidden = (part.dataset.fitted === "yes") !== (count === fitted);
  if (by("layer")) by("layer").value = count;
  fold();
  namingTable();
  renamed();
  if (state.selected) showSelection(state.selected);
  if (state.pinned >= 0) pin(state.pinned);
  if (page.tree) {
    tellSplit(count);
    drawTree(count);
  }
  for (const again of afterLayer) again();
}

// ---- the tree ----

// Leaves side by side, so that no branches cross; each node over the middle of what it joins.
function treeShape() {
  const below = new Map(page.tree.joins.map(([a, b], k) => [leaves + k, [a, b]]));
  const x = new Map();
  const walk = (node) => {
    if (below.has(node)) below.get(node).forEach(walk);
    else x.set(node, x.size);
  };
  walk(leaves + page.tree.joins.length - 1);
  page.tree.joins.forEach(([a, b], k) => x.set(leaves + k, (x.get(a) + x.get(b)) / 2));
  return x;
}

function drawTree(count) {
  const x = treeShape();
  const { joins, splits } = page.tree;
  const number = cutInto(count);
  const across = (node) => 10 + (580 * (x.get(node) + 0.5)) / leaves;
  const up = (node) => 150 - 135 * (node < leaves ? 0 : joins[node - leaves][2]);
  const drawing = draft("svg", {
    viewBox: "0 0 600 170",
    class: "tree chart",
    role: "img",
    "aria-label": `Tree of ${leaves} clusters, cut into ${count}`,
  });
  joins.forEach(([a, b], k) => {
    const node = leaves + k;
    const split = splits[k]?.[0] ?? "";
    const d = `M${across(a)} ${up(a)}V${up(node)}H${across(b)}V${up(b)}`;
    drawing.append(draft("path", { d, class: split, fill: "none" }));
  });
  const below = joins[leaves - count - 1]?.[2] ?? 0;
  const above = joins[leaves - count]?.[2] ?? 1.05;
  const y = 150 - (135 * (below + above)) / 2;
  drawing.append(draft("line", { x1: 0, x2: 600, y1: y, y2: y, class: "cut" }));
  for (let leaf = 0; leaf < leaves; leaf++) {
    const fill = lookOf(number[leaf]);
    drawing.append(draft("circle", { cx: across(leaf), cy: 156, r: Math.min(5, 250 / leaves), fill }));
  }
  by("dendrogram").replaceChildren(drawing);
}

function tellSplit(count) {
  const [word, predicted] = page.tree.splits[leaves - count] ?? [];
  const expected = word && predicted !== null ? ` (predicted agreement ${predicted.toFixed(2)})` : "";
  by("split").textContent = word ? `the split from ${count - 1} to ${count} ${SPLITS[word]}${expected}` : "";
  by("split").className = word ? `tag ${word}` : "";
  by("layer-count").textContent = count === fitted ? `${count}, as fitted` : `${count} (fitted: ${fitted})`;
}

function layerSlider() {
  clusters.looks = looksOf(clusters.nodes);
  layers.set(fitted, { ...clusters });
  by("back").onclick = () => setLayer(fitted);
  by("save-labels").onclick = saveLabels;
  all("[data-look]").forEach((button) => {
    button.onclick = () => {
      setLayer(Number(button.dataset.look));
      by("map").scrollIntoView();
    };
  });
  if (!page.tree) return;
  all(".layered").forEach((part) => (part.hidden = false));
  const slider = by("layer");
  Object.assign(slider, { min: 1, max: leaves, value: fitted });
  slider.oninput = () => setLayer(Number(slider.value));
  tellSplit(fitted);
  drawTree(fitted);
  thumbnails();
}

// A label and a name for each row, at the number of clusters that is shown.
function saveLabels() {
  const lines = [["id", "label", "name"]];
  for (let i = 0; i < page.n; i++) {
    const k = clusters.codes[i];
    lines.push([idOf(i), rootNumber(k), rowNames.get(i) ?? clusterName(rootNumber(k))]);
  }
  save(clusters.names.length === fitted ? "labels.csv" : `labels_${clusters.names.length}.csv`, csv(lines), "text/csv");
}

// ---- candidates for the number: a small map of each ----

const THUMBNAIL = 4000;

function thumbnails() {
  for (const sheet of all("canvas[data-thumbnail]")) {
    const column = layerColumn(Number(sheet.dataset.thumbnail));
    const pen = sheet.getContext("2d");
    const [x, y] = [page.axes[0], page.axes[1]];
    const unit = 0.94 * Math.min(sheet.width / (x.max - x.min || 1), sheet.height / (y.max - y.min || 1));
    const place = (axis, i) => (axis.codes[i] / 65535 - 0.5) * (axis.max - axis.min) * unit;
    for (let i = 0; i < page.n; i += Math.ceil(page.n / THUMBNAIL)) {
      pen.fillStyle = lookOf(column.codes[i], column);
      pen.fillRect(sheet.width / 2 + place(x, i) - 1.5, sheet.height / 2 - place(y, i) - 1.5, 3, 3);
    }
  }
}
