// Layers of a consensus: a tree of clusters, and a slider that cuts it.

const leaves = page.tree ? page.tree.joins.length + 1 : 0;

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
    .forEach((own, k) =>
      own.forEach((leaf) => {
        number[leaf] = k;
      }),
    );
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
  const names_ = sizes.map((_, k) => String(k));
  const name = count === 1 ? "layer of 1 cluster" : `layer of ${count} clusters`;
  return { name, kind: "category", names: names_, sizes, codes, bits: 16, layer: count, number };
}

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

function drawTree(column) {
  const x = treeShape();
  const { joins } = page.tree;
  const across = (node) => 10 + (580 * (x.get(node) + 0.5)) / leaves;
  const up = (node) => 150 - 135 * (node < leaves ? 0 : joins[node - leaves][2]);
  const drawing = draft("svg", {
    viewBox: "0 0 600 170",
    class: "tree",
    role: "img",
    "aria-label": `Tree of ${leaves} clusters, cut into ${column.layer}`,
  });
  joins.forEach(([a, b], k) => {
    const node = leaves + k;
    drawing.append(draft("path", { d: `M${across(a)} ${up(a)}V${up(node)}H${across(b)}V${up(b)}` }));
  });
  const below = joins[leaves - column.layer - 1]?.[2] ?? 0;
  const above = joins[leaves - column.layer]?.[2] ?? 1.05;
  const y = 150 - (135 * (below + above)) / 2;
  drawing.append(draft("line", { x1: 0, x2: 600, y1: y, y2: y, class: "cut" }));
  for (let leaf = 0; leaf < leaves; leaf++) {
    drawing.append(
      draft("circle", { cx: across(leaf), cy: 156, r: Math.min(5, 250 / leaves), fill: lookOf(column.number[leaf]) }),
    );
  }
  by("dendrogram").replaceChildren(drawing);
}

function layerSlider() {
  if (!page.tree) return;
  const slider = by("layer");
  by("tree").hidden = false;
  document.querySelector("label[for=layer]").textContent = "Clusters";
  Object.assign(slider, { min: 1, max: leaves, value: clusters.names.length });
  const show = (paint) => {
    const column = layerColumn(Number(slider.value));
    by("layer-count").textContent = slider.value;
    drawTree(column);
    if (paint) setColour(column);
  };
  slider.oninput = () => show(true);
  show(false);
}

// The slider says whether the map shows a layer.
function markLayer(column) {
  by("layer-count").textContent = column.layer ? `${column.layer}, on the map` : by("layer").value;
}
