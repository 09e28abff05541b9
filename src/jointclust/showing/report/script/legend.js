// The legend: which colour is what, how many rows, and what is hidden.

const hiddenSet = () => (state.colour === clusters ? state.hiddenClusters : state.hiddenColour);

function showLegend() {
  const place = by("legend");
  const { colour } = state;
  place.replaceChildren(make("p", { className: "wide title", textContent: colour.name }));
  if (state.hiddenClusters.size && colour !== clusters) place.append(hiddenNote());
  if (colour.kind === "number") place.append(...rampOf(colour));
  else place.append(allButton(), ...entries(colour));
}

// Rows may be hidden by their cluster while the colours show something else: that is said here.
function hiddenNote() {
  const shown = clusters.names.map((_, k) => k).filter((k) => !state.hiddenClusters.has(k));
  const text =
    shown.length === 1
      ? `Only ${clusterName(shown[0])} is shown.`
      : `${counted(state.hiddenClusters.size)} clusters are hidden.`;
  const button = make("button", { type: "button", className: "all", textContent: "Show all clusters" });
  button.onclick = () => {
    state.hiddenClusters.clear();
    showLegend();
    draw();
  };
  return make("div", { className: "wide hidden-note" }, text, button);
}

function rampOf(column) {
  const bar = make("div", { className: "ramp wide" });
  const { low, high, cutLow, cutHigh, missing } = limits(column);
  bar.style.background = `linear-gradient(to right, ${scale()
    .map((colour) => `rgb(${colour})`)
    .join(",")})`;
  const ends = [
    (cutLow ? "≤ " : "") + digits(valueAt(column, low)),
    (cutHigh ? "≥ " : "") + digits(valueAt(column, high)),
  ];
  const found = [
    bar,
    make("div", { className: "ends wide" }, ...ends.map((text) => make("span", { textContent: text }))),
  ];
  if (missing) found.push(make("p", { className: "wide gap", textContent: `grey: missing in ${counted(missing)}` }));
  return found;
}

function allButton() {
  const button = make("button", { type: "button", className: "all wide" });
  const hidden = hiddenSet();
  button.textContent = hidden.size ? "Show all" : "Hide all";
  button.onclick = () => {
    const fill = !hidden.size;
    hidden.clear();
    if (fill) state.colour.names.forEach((_, k) => hidden.add(k));
    showLegend();
    draw();
  };
  return button;
}

function visibleSizes(column) {
  if (!state.hiddenClusters.size || column === clusters) return column.sizes;
  const sizes = column.names.map(() => 0);
  for (let i = 0; i < page.n; i++) if (!state.hiddenClusters.has(clusters.codes[i])) sizes[column.codes[i]]++;
  return sizes;
}

function entries(column) {
  const hidden = hiddenSet();
  const sizes = visibleSizes(column);
  return column.names.map((_, k) => {
    const name = nameAt(column, k);
    const button = make(
      "button",
      { type: "button", title: name },
      swatch(k, column),
      make("span", { className: "name", textContent: name }),
      make("small", { textContent: counted(sizes[k]) }),
    );
    button.setAttribute("aria-pressed", !hidden.has(k));
    button.onclick = () => {
      if (!hidden.delete(k)) hidden.add(k);
      button.setAttribute("aria-pressed", !hidden.has(k));
      by("legend").querySelector(".all.wide").textContent = hidden.size ? "Show all" : "Hide all";
      draw();
    };
    return button;
  });
}
