// What mouse, fingers and keys do on the map.

const TAP = 4;

function hands() {
  const fingers = new Map();
  let first = null;
  let spread = 0;
  let tracing = false;
  const at = (event) => {
    const r = canvas.getBoundingClientRect();
    return [event.clientX - r.left, event.clientY - r.top];
  };
  const gap = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    first = at(event);
    tracing = (state.mode !== "move" || event.shiftKey) && fingers.size === 1;
    path = tracing ? [first] : [];
    if (fingers.size === 2) spread = gap();
    tip.hidden = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) {
      hover(event);
      return;
    }
    const [x, y] = at(event);
    const [oldX, oldY] = fingers.get(event.pointerId);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const now = gap();
      zoomAt(now / spread, x, y);
      move((x - oldX) / 2, (y - oldY) / 2);
      spread = now;
    } else if (!tracing) move(x - oldX, scrolls(event) ? 0 : y - oldY);
    else {
      if (state.mode === "lasso") path.push([x, y]);
      else path = [first, [x, first[1]], [x, y], [first[0], y]];
      decorate();
    }
  });
  const end = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    const [x, y] = at(event);
    const corners = path;
    path = [];
    if (tracing && corners.length > 2) select(inside(corners));
    else if (event.type === "pointerup" && Math.hypot(x - first[0], y - first[1]) < TAP) {
      const i = hover(event);
      if (i >= 0) pin(i);
    }
    tracing = false;
    decorate();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") tip.hidden = true;
  });
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("keydown", keys);
  document.addEventListener("keydown", escape_);
  document.addEventListener(
    "wheel",
    (event) => {
      if (event.target !== canvas) scrolled = event.timeStamp;
    },
    { passive: true },
  );
  canvas.addEventListener("focus", () => draw());
  canvas.addEventListener("blur", () => draw());
}

// The wheel zooms the map, but a page that is being scrolled goes on while the map passes under the mouse, and where the
// whole map is in sight there is nothing to zoom out of.
const PAUSE = 350;
let scrolled = -PAUSE;
function wheel(event) {
  const free = event.ctrlKey || event.metaKey || isFull();
  const scrolling = event.timeStamp - scrolled < PAUSE;
  if (!free && (scrolling || (event.deltaY > 0 && view.zoom <= 1))) {
    scrolled = event.timeStamp;
    return;
  }
  event.preventDefault();
  const area = canvas.getBoundingClientRect();
  zoomAt(
    Math.exp(-event.deltaY * 0.0015 * (event.deltaMode ? 20 : 1)),
    event.clientX - area.left,
    event.clientY - area.top,
  );
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    ArrowLeft: () => move(40, 0),
    ArrowRight: () => move(-40, 0),
    ArrowUp: () => move(0, 40),
    ArrowDown: () => move(0, -40),
    "+": () => zoom(1.3),
    "=": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: reset,
    Enter: pinMiddle,
    n: () => step(1),
    p: () => step(-1),
    v: selectInView,
    s: () => {
      if (state.pinned >= 0) toggle(state.pinned);
    },
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

// Whatever has the focus.
function escape_(event) {
  if (event.key !== "Escape") return;
  showSelection(null);
  unpin();
  setFull(false);
  by("comparing").hidden = true;
}

// ---- the whole screen ----

const isFull = () => by("map").classList.contains("full");

function setFull(wanted) {
  if (wanted === isFull()) return;
  by("map").classList.toggle("full", wanted);
  by("full").setAttribute("aria-pressed", wanted);
  if (wanted)
    by("map")
      .requestFullscreen?.()
      .catch(() => {}); // where it is refused the map fills the window
  else if (document.fullscreenElement) document.exitFullscreen();
  touch();
}

// One finger scrolls the page, unless it draws or the map is the whole screen; two move and zoom the map.
const scrolls = (event) => event.pointerType === "touch" && state.mode === "move" && !isFull();
function touch() {
  canvas.style.touchAction = state.mode === "move" && !isFull() ? "pan-y" : "none";
}
