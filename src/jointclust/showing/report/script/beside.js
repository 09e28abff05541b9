// Up to four features side by side: small maps that follow the large one.

const SIDE_BY_SIDE = 4;
const beside = [];

async function addBeside(feature) {
  await ready(feature);
  if (!beside.includes(feature)) beside.push(feature);
  if (beside.length > SIDE_BY_SIDE) beside.shift();
  showBeside();
}

function showBeside() {
  by("beside").hidden = !beside.length;
  by("beside").replaceChildren(
    ...beside.map((column) => {
      const close = make("button", { type: "button", className: "close", textContent: "Close" });
      close.setAttribute("aria-label", `Close the map of ${column.name}`);
      close.onclick = () => {
        beside.splice(beside.indexOf(column), 1);
        showBeside();
      };
      const sheet = make("canvas", {});
      sheet.setAttribute("role", "img");
      sheet.setAttribute("aria-label", `Map coloured by ${column.name}`);
      const key = column.kind === "number" ? rampOf(column) : [];
      return make("figure", {}, close, make("figcaption", { textContent: column.name }), sheet, ...key);
    }),
  );
  draw();
}

// Each is painted as the large map is and copied; that one is painted last.
function paintBeside() {
  if (!beside.length) return;
  const { colour } = state;
  all("#beside canvas").forEach((sheet, k) => {
    const scale_ = sheet.clientWidth / Math.max(stage.clientWidth, 1) || 0.5;
    sheet.width = Math.round(canvas.width * scale_);
    sheet.height = Math.round(canvas.height * scale_);
    state.colour = beside[k];
    painter.paint(1);
    sheet.getContext("2d").drawImage(canvas, 0, 0, sheet.width, sheet.height);
  });
  state.colour = colour;
}
