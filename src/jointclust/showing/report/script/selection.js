// Rows that the reader selects: which, and as a file.

function select(test) {
  const flags = new Uint8Array(page.n);
  let count = 0;
  for (let i = 0; i < page.n; i++)
    if (!isHidden(i) && test(i)) {
      flags[i] = 1;
      count++;
    }
  showSelection(count ? flags : null);
}

function toggle(i) {
  const flags = state.selected ? state.selected.slice() : new Uint8Array(page.n);
  flags[i] = 1 - flags[i];
  showSelection(flags.some(Boolean) ? flags : null);
}

function partsOf(column, flags) {
  const sizes = column.names.map(() => 0);
  for (let i = 0; i < page.n; i++) if (flags[i]) sizes[column.codes[i]]++;
  const found = sizes
    .map((size, k) => [size, k])
    .filter(([size]) => size)
    .sort((a, b) => b[0] - a[0]);
  const listed = found
    .slice(0, 8)
    .map(([size, k]) => `${column === clusters ? clusterName(k) : nameAt(column, k)}: ${counted(size)}`);
  return listed.join(", ") + (found.length > 8 ? ", …" : "");
}

function showSelection(flags) {
  state.selected = flags;
  painter.select(flags);
  by("selection").hidden = !flags;
  if (flags) {
    const count = sizeOf(flags);
    by("count").textContent = `${counted(count)} ${count === 1 ? "row" : "rows"} selected`;
    by("parts").textContent = partsOf(clusters, flags) + (classes ? `; classes: ${partsOf(classes, flags)}` : "");
  }
  draw();
}

function inside(corners) {
  const t = transform();
  return (i) => {
    const [x, y] = placeOf(i, t);
    let odd = false;
    for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
      const [ax, ay] = corners[a];
      const [bx, by_] = corners[b];
      if (ay > y !== by_ > y && x < ((bx - ax) * (y - ay)) / (by_ - ay) + ax) odd = !odd;
    }
    return odd;
  };
}

function selectInView() {
  const { w, h } = box();
  select(
    inside([
      [0, 0],
      [w, 0],
      [w, h],
      [0, h],
    ]),
  );
}

async function download() {
  await Promise.all([...page.features.map(ready), textsReady()]);
  const columns = [...page.columns, ...page.features];
  const lines = [["id", "label", ...columns.map((column) => column.name), ...texts_.map((column) => column.name)]];
  for (let i = 0; i < page.n; i++) {
    if (state.selected[i])
      lines.push([
        idOf(i),
        clusters.codes[i],
        ...columns.map((column) => (isKnown(column, i) ? valueOf(column, i) : "")),
        ...texts_.map((column) => column.texts[i]),
      ]);
  }
  save("selected.csv", csv(lines), "text/csv");
}
