// The map as a picture: pixels, or lines.

const VECTORS = 20000;
const LEGEND_FONT = "13px system-ui, sans-serif";

function legendLines() {
  const { colour } = state;
  return colour.kind === "category"
    ? colour.names.map((_, k) => ({ k, text: cut(nameAt(colour, k), 64) })).slice(0, 60)
    : [];
}

// How wide the legend of a picture is.
function besideMap(lines) {
  const pen = overlay.getContext("2d");
  pen.font = LEGEND_FONT;
  return lines.length ? Math.ceil(Math.max(200, ...lines.map(({ text }) => pen.measureText(text).width)) + 44) : 0;
}

// The points, the names over them, and the legend beside them, on paper.
function picture() {
  const { w, h, dpr } = box();
  const lines = legendLines();
  const side = besideMap(lines);
  const sheet = make("canvas", { width: Math.round((w + side) * dpr), height: Math.round(h * dpr) });
  const pen = sheet.getContext("2d");
  pen.fillStyle = hue("--paper");
  pen.fillRect(0, 0, sheet.width, sheet.height);
  painter.paint(1);
  decorate();
  pen.drawImage(canvas, 0, 0);
  pen.drawImage(overlay, 0, 0);
  pen.scale(dpr, dpr);
  pen.font = LEGEND_FONT;
  pen.textBaseline = "middle";
  lines.forEach(({ k, text }, place) => {
    const y = 20 + (place * (h - 30)) / Math.max(lines.length, 24);
    pen.fillStyle = lookOf(k, state.colour);
    pen.fill(new Path2D(outline(shapeOf(k, state.colour), w + 16, y, 5)));
    pen.fillStyle = hue("--ink");
    pen.fillText(text, w + 28, y);
  });
  return sheet;
}

// The outline of a point as a path: circle, square, triangle, diamond.
function outline(shape, x, y, r) {
  const corners = [
    null,
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ],
    [
      [0, -1.2],
      [1.1, 0.9],
      [-1.1, 0.9],
    ],
    [
      [0, -1.3],
      [1.3, 0],
      [0, 1.3],
      [-1.3, 0],
    ],
  ][shape];
  if (!corners) return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  return "M" + corners.map(([a, b]) => `${(x + a * r).toFixed(1)} ${(y + b * r).toFixed(1)}`).join("L") + "Z";
}

const savePng = () => picture().toBlob((blob) => save("map.png", blob, "image/png"));

function saveSvg() {
  const { w, h } = box();
  const t = transform();
  const lines = legendLines();
  const side = besideMap(lines);
  const ink = hue("--ink");
  const root = draft("svg", {
    viewBox: `0 0 ${w + side} ${h}`,
    width: w + side,
    height: h,
    "font-family": "sans-serif",
    "font-size": 13,
  });
  root.append(draft("rect", { width: w + side, height: h, fill: hue("--paper") }));
  if (page.n > VECTORS) root.append(draft("image", { width: w, height: h, href: pointsOnly() }));
  else {
    const inks = inksOf(state.colour);
    const table = coloursOf(state.colour);
    const groups = new Map();
    const r = pointSize() / 2.4;
    for (let i = 0; i < page.n; i++) {
      if (isHidden(i)) continue;
      const own = groups.get(inks[i]) ?? [];
      own.push(
        outline(
          state.colour.kind === "category" ? shapeOf(inks[i], state.colour) : 0,
          ...placeOf(i, t).map((v) => Number(v.toFixed(1))),
          r,
        ),
      );
      groups.set(inks[i], own);
    }
    for (const [k, own] of groups)
      root.append(draft("path", { d: own.join(""), fill: `rgb(${table[k]})`, "fill-opacity": 0.85 }));
  }
  for (const { text, x, y, kind, up } of texts(overlay.getContext("2d"))) {
    root.append(
      draft(
        "text",
        {
          x: 0,
          y: 4,
          transform: `translate(${x} ${y})${up ? " rotate(-90)" : ""}`,
          "text-anchor": "middle",
          fill: ink,
          stroke: hue("--paper"),
          "stroke-width": 3,
          "paint-order": "stroke",
          "font-weight": kind === "axis" ? 400 : 600,
          "font-size": kind === "axis" ? 12 : nameSize(),
        },
        text,
      ),
    );
  }
  lines.forEach(({ k, text }, place) => {
    const y = 20 + (place * (h - 30)) / Math.max(lines.length, 24);
    root.append(
      draft("path", { d: outline(shapeOf(k, state.colour), w + 16, y, 5), fill: lookOf(k, state.colour) }),
      draft("text", { x: w + 28, y: y + 4, fill: ink }, text),
    );
  });
  save("map.svg", new XMLSerializer().serializeToString(root), "image/svg+xml");
}

function pointsOnly() {
  painter.paint(1);
  return canvas.toDataURL("image/png");
}
