// Everything is put together here.

function fill(list, items, chosen, change) {
  items.forEach((item, k) =>
    list.append(Object.assign(new Option(item.name, k, k === chosen, k === chosen), { column: item })),
  );
  list.onchange = () => change(list.selectedOptions[0].column);
}

// By neighbours, where the page has them so, or along directions that can be chosen.
function layouts() {
  const first = page.axes.findIndex((axis) => !axis.layout);
  const look = (x, y) => {
    Object.assign(view, { x, y, zoom: 1, cx: 0, cy: 0 });
    grid = null;
    all(".directions").forEach((label) => (label.hidden = x < first));
    draw();
  };
  const chosen = () => ["across", "up"].map((id) => first + Number(by(id).value));
  for (const [id, place] of [
    ["across", 0],
    ["up", 1],
  ]) {
    fill(by(id), page.axes.slice(first), place, () => look(...chosen()));
  }
  fill(by("layout"), [{ name: "neighbours" }, { name: "directions" }], 0, ({ name }) =>
    look(...(name === "neighbours" ? [0, 1] : chosen())),
  );
  by("layouts").hidden = first === 0;
  all(".directions").forEach((label) => (label.hidden = first > 0));
}

function controls() {
  fill(by("colour"), page.columns, 0, setColour);
  layouts();
  for (const button of all("[data-mode]")) {
    button.onclick = () => {
      state.mode = button.dataset.mode;
      all("[data-mode]").forEach((other) => other.setAttribute("aria-pressed", other === button));
      touch();
    };
  }
  by("in").onclick = () => zoom(1.3);
  by("out").onclick = () => zoom(1 / 1.3);
  by("reset").onclick = reset;
  by("clear").onclick = () => showSelection(null);
  by("download").onclick = download;
  by("png").onclick = savePng;
  by("svg").onclick = saveSvg;
  by("full").onclick = () => setFull(!isFull());
  document.addEventListener("fullscreenchange", () => {
    if (!document.fullscreenElement) setFull(false);
  });
  const more = by("more-names");
  const list = document.querySelector(".names");
  more.onclick = () => {
    list.classList.toggle("first");
    moreNames();
  };
  list.classList.add("first");
  by("open-cards").onclick = () => {
    const cards = all("details.card");
    const wanted = cards.some((card) => !card.open);
    cards.forEach((card) => (card.open = wanted));
  };
}

// Of many clusters the first ones are listed at the top.
function moreNames() {
  const list = document.querySelector(".names");
  const hidden = [...list.querySelectorAll("li")].filter((line) => !line.offsetParent).length;
  const isShort = list.classList.contains("first");
  by("more-names").hidden = isShort && !hidden;
  by("more-names").textContent = isShort ? `and ${counted(hidden)} more` : "fewer";
}

// Links and buttons that stand once for each cluster, feature or row, in whatever part of the page.
const FOLLOWED = {
  only(button) {
    const k = numberOf(button.dataset.only);
    state.hiddenClusters = new Set([...clusters.names.keys()].filter((other) => other !== k));
    setColour(clusters);
    by("map").scrollIntoView();
  },
  select(button) {
    const k = numberOf(button.dataset.select);
    state.hiddenClusters.clear();
    setColour(clusters);
    select((i) => clusters.codes[i] === k);
    by("map").scrollIntoView();
  },
  against(button) {
    openComparison(`cluster ${numberOf(button.dataset.against)}`, "rest");
  },
  said(button) {
    const box = by(`said-${button.dataset.said}`);
    box.hidden = !box.hidden;
    button.setAttribute("aria-expanded", !box.hidden);
    if (!box.hidden) box.scrollIntoView({ block: "nearest" });
  },
  feature: followFeature,
  row: followRow,
  card(link) {
    const card = by(`cluster-${link.dataset.card}`);
    card.open = true;
    card.scrollIntoView({ block: "nearest" });
    card.querySelector("summary").focus();
  },
};

function follow(event) {
  for (const [name, act] of Object.entries(FOLLOWED)) {
    const found = event.target.closest?.(`[data-${name}]`);
    if (!found) continue;
    event.preventDefault();
    act(found);
    return;
  }
}

// ---- tables that sort ----

function sortable() {
  for (const button of all("button.sort")) {
    const head = button.closest("th");
    button.onclick = () => {
      const order = head.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
      for (const other of head.parentNode.children)
        if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", order);
      sorted();
    };
  }
  afterLayer.push(sorted);
}

// The lines in the order that the head of a column shows.
function sorted() {
  const head = document.querySelector("[aria-sort$=cending]");
  if (!head) return;
  const place = [...head.parentNode.children].indexOf(head);
  const body = head.closest("table").tBodies[0];
  const key = (row) => row.children[place].dataset.sort ?? row.children[place].textContent.trim();
  const rows = [...body.rows];
  const isNumber = rows.every((row) => Number.isFinite(Number(key(row))));
  rows.sort((a, b) => (isNumber ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b), "en", { numeric: true })));
  body.append(...(head.getAttribute("aria-sort") === "ascending" ? rows : rows.reverse()));
}

// The style has the dark colours for readers who ask for them; from the first click on, the button decides.
const { media } = [...document.styleSheets[0].cssRules].find((rule) => rule.media?.mediaText.includes("dark"));
const onDark = () => !printing && window.matchMedia(media.mediaText).matches;

function theme() {
  const again = () => {
    if (!painter) return;
    showLegend();
    draw();
  };
  by("theme").onclick = () => {
    media.mediaText = window.matchMedia(media.mediaText).matches ? "not all" : "screen";
    again();
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
}

async function start() {
  document.documentElement.dataset.script = "yes";
  theme();
  sortable();
  try {
    await unpack();
  } catch (error) {
    tell("This browser is too old to unpack the map: all that is below still holds.");
    return;
  }
  painter = glPainter() ?? plainPainter();
  controls();
  featureFinder();
  rowFinder();
  layerSlider();
  naming();
  renamed();
  fold();
  comparing();
  charts();
  moreNames();
  afterLayer.push(moreNames);
  document.addEventListener("click", follow);
  hands();
  touch();
  printed();
  new ResizeObserver(resize).observe(stage);
  resize();
  if (page.n > PLAIN_LIMIT) measure();
  document.documentElement.dataset.ready = "yes";
}
start();
