// Two groups of rows compared: clusters, a selection, one kept before, and the rest.

const COMPARED = 200;
const LISTED = 15;
let keptSelection = null;

// What can be compared; each says which rows are in it.
function sides() {
  const found = clusters.nodes.map((_, k) => ({ key: `cluster ${k}`, name: clusterName(k), has: (i) => clusters.codes[i] === k }));
  const kept = keptSelection;
  const selected = state.selected;
  if (kept) found.unshift({ key: "kept", name: `selection A (${counted(sizeOf(kept))} rows)`, has: (i) => kept[i] });
  if (selected)
    found.unshift({ key: "selection", name: `the selection (${counted(sizeOf(selected))} rows)`, has: (i) => selected[i] });
  return found;
}

const sizeOf = (flags) => flags.reduce((sum, flag) => sum + flag, 0);

function fillSides(first, second) {
  const found = sides();
  const rest = { key: "rest", name: "all other rows", has: () => true };
  for (const [id, list, chosen] of [
    ["side-a", found, first],
    ["side-b", [rest, ...found], second],
  ]) {
    const before = chosen ?? by(id).value;
    by(id).replaceChildren(...list.map((side) => Object.assign(new Option(side.name, side.key), { side })));
    if (list.some((side) => side.key === before)) by(id).value = before;
  }
}

// 1 for rows of the first side, 2 for rows of the second that are not in the first, 0 for the others.
function groupOf(a, b) {
  const group = new Uint8Array(page.n);
  for (let i = 0; i < page.n; i++) group[i] = a.has(i) ? 1 : b.has(i) ? 2 : 0;
  return group;
}

async function showComparison() {
  const [a, b] = ["side-a", "side-b"].map((id) => by(id).selectedOptions[0].side);
  const others = page.columns.filter((column) => column !== clusters && column.kind === "category");
  // A category is compared as one column, not by its levels, too.
  const isLevel = (feature) => feature.of === "level" && others.some(({ name }) => feature.name.startsWith(`${name} = `));
  const some = page.features.filter((feature) => !isLevel(feature)).slice(0, COMPARED);
  await Promise.all(some.map(ready));
  const group = groupOf(a, b);
  const found = [
    ...some.map((feature) => differenceOf(feature, group)),
    ...others.map((column) => associationOf(column, group)),
  ].filter((one) => one && one.effect !== 0);
  corrected(found).sort((x, y) => Math.abs(y.effect) - Math.abs(x.effect));
  const head = ["", "effect", cut(a.name, 40), cut(b.name, 40), "test"];
  const titles = head.map((text) => make("th", { scope: "col", textContent: text }));
  by("compared").replaceChildren(
    found.length
      ? make(
          "table",
          { className: "comparison" },
          make("thead", {}, make("tr", {}, ...titles)),
          make("tbody", {}, ...found.slice(0, LISTED).map(comparedLine)),
        )
      : make("p", { textContent: "Nothing that the page carries tells the two apart." }),
    make("p", {
      className: "note",
      textContent:
        "Effect: Cohen's d of numbers (0.8 is large), Cramer's V of categories (0.5 is large). Test: Welch's of numbers, chi " +
        `squared of categories, corrected for ${counted(found.length)} comparisons (Holm). Columns that made the clusters ` +
        "differ between them whatever the data are: a small p says something of other columns only.",
    }),
  );
}

function comparedLine(one) {
  const { column, effect, p } = one;
  const number = (text) => make("td", { className: "number", textContent: text });
  if (one.shares)
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, columnButton(column), `: ${nameAt(column, one.level)}`),
      number(`V ${effect.toFixed(2)}`),
      ...one.shares.map((share) => number(percent(share))),
      number(probability(p)),
    );
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, featureButton(column)),
    number((effect > 0 ? "+" : "") + effect.toFixed(1)),
    number(meanText(column, one.here)),
    number(meanText(column, one.elsewhere)),
    number(probability(p)),
  );
}

function openComparison(first, second) {
  by("comparing").hidden = false;
  fillSides(first, second);
  return showComparison().then(() => by("comparing").scrollIntoView({ block: "nearest" }));
}

function comparing() {
  by("compare").onclick = () => openComparison("selection", keptSelection ? "kept" : "rest");
  by("keep-selection").onclick = () => {
    keptSelection = state.selected.slice();
    by("kept-told").textContent = `Kept as A: ${counted(sizeOf(keptSelection))} rows. Select others and compare.`;
  };
  by("compare-clusters").onclick = () => openComparison("cluster 0", clusters.names.length > 1 ? "cluster 1" : "rest");
  by("close-comparison").onclick = () => (by("comparing").hidden = true);
  for (const id of ["side-a", "side-b"]) by(id).onchange = showComparison;
  afterLayer.push(() => (by("comparing").hidden = true));
}
